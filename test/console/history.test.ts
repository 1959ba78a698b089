import { beforeAll, describe, expect, test } from 'vitest';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser(['--history=1h']);
const api = () => consoleBrowser.server.client();
const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';
const IMAGE_PATCH = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'web', image }] } } } });

const patch = (path: string, body: object, headers: Record<string, string> = {}) =>
  api().send({ method: 'PATCH', path, headers: { 'content-type': 'application/strategic-merge-patch+json', ...headers }, body });

describe.runIf(hasChromium)('history', () => {
  beforeAll(async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'shop' } });
    await api().create(DEPLOYMENTS, {
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
      },
    });
    await patch(`${DEPLOYMENTS}/web?fieldManager=kubectl-set`, IMAGE_PATCH('nginx:2'), { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' });
    await patch(`${DEPLOYMENTS}/web`, { spec: { replicas: 3 } });
  });

  test('tells who changed the image, and shows the object as it was before', async () => {
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${DEPLOYMENTS}/web`);
    await page.locator('.cm-line', { hasText: 'replicas: 3' }).first().waitFor();
    await page.getByRole('button', { name: '3 changes' }).click();
    await page.getByRole('button', { name: /jane/ }).click();
    const details = page.locator('.change-details');
    await details.waitFor();
    expect(await details.textContent()).toContain('jane');
    expect(await details.locator('del').textContent()).toBe('nginx:1');
    expect(await details.locator('ins').textContent()).toBe('nginx:2');
    await page.locator('.cm-line', { hasText: 'replicas: 1' }).first().waitFor();
    await page.locator('.live', { hasText: 'As it was' }).waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).isDisabled()).toBe(true);
    // Nor by its key: what follows would show the text that is edited.
    await page.keyboard.press('e');
    expect(await page.locator('.kubectl code').textContent()).toMatch(
      /^kubectl get --raw '?\/apis\/history.binnacle.dev\/v1alpha1\/objects\/apis\/apps\/v1\/namespaces\/shop\/deployments\/web\?at=\d+'?$/,
    );

    await page.getByRole('button', { name: 'Change before' }).click();
    await page.locator('.cm-line', { hasText: 'image: nginx:1' }).first().waitFor();
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.locator('.cm-line', { hasText: 'replicas: 3' }).first().waitFor();
  });

  test('of a table is dragged, and rows are those of that moment', async () => {
    await api().create('/api/v1/namespaces/shop/configmaps', { metadata: { name: 'early', exact: true } });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/api/v1/namespaces/shop/configmaps');
    await page.getByRole('link', { name: 'early', exact: true }).waitFor();
    await api().create('/api/v1/namespaces/shop/configmaps', { metadata: { name: 'late', exact: true } });
    await page.getByRole('link', { name: 'late', exact: true }).waitFor();
    await page.getByRole('button', { name: '2 changes' }).waitFor();
    await page.getByRole('button', { name: 'Change before' }).click();
    await page.getByRole('button', { name: 'Change before' }).click();
    await page.getByRole('link', { name: 'late', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'early', exact: true }).waitFor();
    // To the far left: a minute ago, before there was anything.
    const box = (await page.getByLabel('Moment').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 3, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.url(), SOON).toContain('at=20');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('link', { name: 'late', exact: true }).waitFor();
  });

  test('of all that was changed is searched', async () => {
    const page = await consoleBrowser.signedIn();
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByLabel('Search in the changes').fill('jane');
    await expect.poll(() => page.locator('.change-row').count(), SOON).toBe(1);
    await page.locator('.change-row').click();
    await page.getByRole('link', { name: 'Deployment web' }).click();
    await page.getByRole('heading', { name: 'web' }).waitFor();
  });
});

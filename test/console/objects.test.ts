import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser(['--controllers=*']);
const api = () => consoleBrowser.server.client();
const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';

const deployment = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'shop', labels: { app: name } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
  },
});

beforeAll(async () => {
  if (hasChromium) await api().create('/api/v1/namespaces', { metadata: { name: 'shop' } });
});

const editor = (page: Page) => page.locator('.cm-content');

/** Writes another line in place of one, as a person does: goes to it, selects it, types. */
async function replaceLine(page: Page, from: string, to: string): Promise<void> {
  await editor(page).locator('.cm-line', { hasText: from }).first().click();
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+Home');
  await page.keyboard.type(to);
}

describe.runIf(hasChromium)('an object', () => {
  test('is YAML that says who owns which line, and what each field means', async () => {
    const { name } = (await api().create(`${DEPLOYMENTS}?fieldManager=the-author`, deployment('owned'))).metadata;
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${DEPLOYMENTS}/${name}`);
    await editor(page).getByText('replicas').waitFor();
    await page.locator('.cm-owners').getByText('the-author').first().waitFor();
    await page.getByText('Who set its fields').waitFor();
    // By the pointer, and by the cursor for those who have none.
    await editor(page).getByText('replicas').hover();
    await page.locator('.cm-tooltip').getByText('Number of desired pods').waitFor();
    await editor(page).getByText('replicas').click();
    await page.getByRole('complementary', { name: 'About the object' }).getByText('Number of desired pods').waitFor();
    await page.locator('.cm-foldGutter').getByText('▾').first().click();
    await page.locator('.cm-foldPlaceholder').waitFor();
    expect(await page.locator('.kubectl code').textContent()).toBe('kubectl get deployment.apps/owned -n shop -o yaml --show-managed-fields');
  });

  test('is followed, with its conditions and events', async () => {
    await api().create(DEPLOYMENTS, deployment('followed'));
    const stored = await api().get(`${DEPLOYMENTS}/followed`);
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${DEPLOYMENTS}/followed`);
    await editor(page).getByText('replicas').waitFor();
    await api().send({
      method: 'PUT',
      path: `${DEPLOYMENTS}/followed/status`,
      body: { ...stored, status: { conditions: [{ type: 'Available', status: 'False', reason: 'NotYet', message: 'Wait a little.' }] } },
    });
    await page.getByText('Wait a little.', { exact: true }).waitFor();
    await api().create('/api/v1/namespaces/shop/events', {
      metadata: { name: 'followed.1' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'followed', uid: stored.metadata.uid },
      type: 'Warning',
      reason: 'Unlucky',
      message: 'It did not go well.',
    });
    await page.getByText('It did not go well.').waitFor();
    await api().send({ method: 'DELETE', path: `${DEPLOYMENTS}/followed` });
    await page.locator('.live', { hasText: 'Deleted' }).waitFor();
  });

  test('shows its owners and dependents as a graph', async () => {
    const { uid } = (await api().create(DEPLOYMENTS, deployment('family'))).metadata;
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'family', uid }];
    const child = await api().create(CONFIG_MAPS, { metadata: { name: 'child', ownerReferences } });
    await api().create(CONFIG_MAPS, {
      metadata: { name: 'grandchild', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'child', uid: child.metadata.uid }] },
    });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${CONFIG_MAPS}/child`);
    await page.getByRole('button', { name: 'Owners and dependents' }).click();
    await page.locator('.graph').getByText('family', { exact: true }).waitFor();
    await page.locator('.graph').getByText('grandchild', { exact: true }).click();
    await page.getByRole('heading', { name: 'grandchild' }).waitFor();
  });
});

describe.runIf(hasChromium)('editing', () => {
  test('shows what would change before it is saved', async () => {
    await api().create(CONFIG_MAPS, { metadata: { name: 'edited' }, data: { color: 'red' } });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${CONFIG_MAPS}/edited`);
    await editor(page).getByText('red').waitFor();
    await page.keyboard.press('e');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await replaceLine(page, 'color: red', 'color: green');
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    const diff = page.getByRole('region', { name: 'What would change' });
    await diff.waitFor();
    expect(await diff.locator('.removed').allInnerTexts()).toEqual([expect.stringContaining('color: red')]);
    expect(await diff.locator('.added').allInnerTexts()).toEqual([expect.stringContaining('color: green')]);
    expect((await api().get(`${CONFIG_MAPS}/edited`)).data).toEqual({ color: 'red' });
    // The key that begins does not begin again: the text would be lost.
    await page.keyboard.press('e');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Check and save' }).waitFor({ state: 'detached' });
    expect((await api().get(`${CONFIG_MAPS}/edited`)).data).toEqual({ color: 'green' });
  });

  test('that meets a conflict says what others changed, and goes on with both', async () => {
    await api().create(CONFIG_MAPS, { metadata: { name: 'contested' }, data: { mine: '1', theirs: '1' } });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${CONFIG_MAPS}/contested`);
    await editor(page).getByText('mine').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await replaceLine(page, 'mine: "1"', 'mine: "2"');
    await api().send({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/contested?fieldManager=the-other`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: { theirs: '3' } },
    });
    await page.getByText('The object changed while you edit it').waitFor();
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    const conflict = page.getByRole('alert', { name: 'Conflict' });
    await conflict.waitFor();
    expect(await conflict.textContent()).toContain('the-other');
    await conflict.getByRole('button', { name: /Take over/ }).click();
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    await page.getByRole('region', { name: 'What would change' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await api().get(`${CONFIG_MAPS}/contested`)).data, SOON).toEqual({ mine: '2', theirs: '3' });
  });

  test('that the server refuses says why', async () => {
    await api().create(DEPLOYMENTS, deployment('strict'));
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${DEPLOYMENTS}/strict`);
    await editor(page).getByText('replicas').waitFor();
    await page.keyboard.press('e');
    await replaceLine(page, 'replicas: 1', 'replicas: -1');
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    await page.getByRole('alert').getByText('spec.replicas: Invalid value: -1').waitFor();
  });
});

describe.runIf(hasChromium)('creating', () => {
  test('begins with an example made from the schema, which the server takes', async () => {
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, DEPLOYMENTS);
    await page.getByRole('link', { name: 'Create' }).click();
    await editor(page).getByText('containers').waitFor();
    await replaceLine(page, 'name: example', 'name: created');
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    await page.getByRole('region', { name: 'What would change' }).waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'created' }).waitFor();
    expect((await api().get(`${DEPLOYMENTS}/created`)).metadata.name).toBe('created');
  });

  test.each([
    '/api/v1/namespaces/shop/pods',
    '/api/v1/namespaces/shop/services',
    '/apis/batch/v1/namespaces/shop/cronjobs',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles',
    '/apis/networking.k8s.io/v1/namespaces/shop/ingresses',
  ])('an example of %s is valid', async (collection) => {
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${collection}?create`);
    await editor(page).getByText('metadata').first().waitFor();
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    await page.getByText('The server would take it').waitFor();
  });
});

describe.runIf(hasChromium)('deleting', () => {
  test('tells of dependents and finalizers first', async () => {
    const owner = await api().create(CONFIG_MAPS, { metadata: { name: 'owner', finalizers: ['example.com/hold'] } });
    await api().create(CONFIG_MAPS, {
      metadata: { name: 'owned-by-it', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }] },
    });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, `${CONFIG_MAPS}/owner`);
    await editor(page).getByText('owner').first().waitFor();
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('owned-by-it').waitFor();
    await dialog.getByText('example.com/hold').waitFor();
    await dialog.getByLabel('Orphan').check();
    expect(await dialog.locator('.kubectl code').textContent()).toBe('kubectl delete configmap/owner -n shop --cascade=orphan');
    await dialog.getByLabel('Background').check();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.locator('.live', { hasText: 'Being deleted' }).waitFor();
    await api().send({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/owner`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { finalizers: null } },
    });
    await page.locator('.live', { hasText: 'Deleted' }).waitFor();
  });

  test('that RBAC refuses shows the rule', async () => {
    await api().create(CONFIG_MAPS, { metadata: { name: 'kept' } });
    await api().create('/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings', {
      metadata: { name: 'viewers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' }],
    });
    const page = await consoleBrowser.signedIn('bob');
    await consoleBrowser.go(page, `${CONFIG_MAPS}/kept`);
    await editor(page).getByText('kept').first().waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByText('kubectl create role console-user --verb delete --resource configmaps -n shop').waitFor();
  });
});

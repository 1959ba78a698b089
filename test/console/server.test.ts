import { describe, expect, test } from 'vitest';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser();
const api = () => consoleBrowser.server.client();

describe.runIf(hasChromium)('what the server is doing', () => {
  test('is drawn as charts, with clients, watches, levels and health', async () => {
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/server');
    await page.getByRole('img', { name: /^Requests: now/ }).waitFor();
    const line = page.locator('.chart .line.series-1').first();
    const firstPath = await line.getAttribute('d');
    for (let count = 0; count < 30; count++) await consoleBrowser.server.client('alice').send({ path: '/version', headers: { 'user-agent': 'busy-bee/1.0' } });
    await expect.poll(() => line.getAttribute('d'), SOON).not.toBe(firstPath);
    // Whoever asks most is at the top.
    const clients = page.locator('.card', { hasText: 'Clients with the most requests' });
    await expect.poll(async () => (await clients.locator('tbody tr').allTextContents()).find((text) => text.includes('busy-bee/1.0')), SOON).toMatch(/alice/);
    await page.locator('.card', { hasText: 'Watches by client' }).getByText('namespaces', { exact: true }).waitFor();
    await page.locator('.card', { hasText: 'Priority levels' }).getByText('workload-low', { exact: true }).waitFor();
    await page.getByText(/^readyz: all \d+ checks pass/).waitFor();
  });

  test('is refused to whom RBAC does not allow it, with the rule', async () => {
    const page = await consoleBrowser.signedIn('mallory');
    await consoleBrowser.go(page, '/server');
    await page.getByText('nonResourceURLs: ["/console/activity"]').waitFor();
  });

  test('is seen request by request, and a refused one is explained', async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'tight' } });
    await api().create('/api/v1/namespaces/tight/resourcequotas', { metadata: { name: 'none' }, spec: { hard: { configmaps: '0' } } });
    await expect.poll(async () => (await api().get('/api/v1/namespaces/tight/resourcequotas/none')).metadata.name, SOON).toBe('none');
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/requests?errors=1');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    const refused = await consoleBrowser.server.client('mallory').send({ path: '/api/v1/namespaces/tight/secrets' });
    expect(refused.status).toBe(403);
    const row = page.getByRole('row', { name: /namespaces\/tight\/secrets/ });
    await row.getByText('cannot list resource "secrets"').waitFor();
    await row.getByRole('button', { name: 'Why?' }).click();
    await page.locator('.verdict', { hasText: 'Refused in authorization' }).waitFor();
    await page.getByText('The rule that is missing').waitFor();
    expect(await page.locator('.steps pre').textContent()).toContain('resources: ["secrets"]');
  });

  test('tells step by step why a create was refused by quota', async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'full' } });
    const quota = { metadata: { name: 'few' }, spec: { hard: { 'count/configmaps': '0' } } };
    const { metadata } = await api().create('/api/v1/namespaces/full/resourcequotas', quota);
    // What a controller would do: the quota knows what is used.
    await api().send({
      method: 'PUT',
      path: '/api/v1/namespaces/full/resourcequotas/few/status',
      body: { ...quota, metadata, status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } } },
    });
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/api/v1/namespaces/full/configmaps?create');
    await page.locator('.cm-content').getByText('metadata').waitFor();
    await page.getByRole('button', { name: 'Check by dry run' }).click();
    await page.getByRole('alert').getByText('exceeded quota: few').waitFor();
    await page.getByRole('button', { name: 'Why was it refused?' }).click();
    await page.getByText('Refused in admission by ResourceQuota.').waitFor();
    expect(await page.locator('.refusal').textContent()).toContain(
      'exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=0, limited: count/configmaps=0',
    );
    await page.locator('.step', { hasText: 'NamespaceLifecycle' }).waitFor();
  });
});

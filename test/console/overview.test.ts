import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser(['--history=1h']);
const api = () => consoleBrowser.server.client();
const PODS = '/api/v1/namespaces/shop/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/shop/deployments';
const QUOTAS = '/api/v1/namespaces/shop/resourcequotas';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop';
const podSpec = (image: string) => ({ containers: [{ name: 'web', image }] });
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one-more' }, spec: podSpec('nginx:1') };

/* What somebody who has never seen the console finds without being told: issue 25 names the three questions. */
describe.runIf(hasChromium)('the overview', () => {
  beforeAll(async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'shop' } });
    await api().create('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'default' } });
    const metadata = { name: 'editors' };
    await api().create(`${RBAC}/roles`, {
      metadata,
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['create'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'patch'] },
      ],
    });
    await api().create(`${RBAC}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editors' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
    });
    await api().create(DEPLOYMENTS, {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: podSpec('nginx:1') } },
    });
    const quota = { metadata: { name: 'no-pods' }, spec: { hard: { pods: '0' } } };
    const stored = await api().create(QUOTAS, quota);
    // What a controller would do: the quota knows what is used.
    const status = { hard: { pods: '0' }, used: { pods: '0' } };
    await api().expect(200, { method: 'PUT', path: `${QUOTAS}/no-pods/status`, body: { ...stored, status } });
    await vi.waitFor(async () => expect((await createPod({ dryRun: true })).text).toContain('exceeded quota'), SOON);
  });

  const createPod = ({ dryRun = false } = {}) =>
    consoleBrowser.server.client('alice').send({ method: 'POST', path: dryRun ? `${PODS}?dryRun=All` : PODS, body: POD });

  test("tells why a pod's create was refused by quota, and leads to each step of it", async () => {
    const page = await consoleBrowser.signedIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect((await createPod()).status).toBe(403);
    const row = page.getByRole('region', { name: 'Refused and failed requests' }).getByRole('row', { name: /create .*shop\/pods/ });
    await row.waitFor();
    expect(await row.textContent()).toContain('pods "one-more" is forbidden: exceeded quota: no-pods, requested: pods=1, used: pods=0, limited: pods=0');
    expect(await row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['403', 'alice']));
    await row.getByRole('button', { name: 'Why?' }).click();
    await page.getByRole('heading', { name: 'Why was it refused?' }).waitFor();
    expect([await page.getByLabel('Path, or a request line').inputValue(), await page.getByLabel('As user').inputValue()]).toEqual([PODS, 'alice']);
    // Bodies are not recorded: who asks has it.
    await page.getByLabel('Body, as YAML or JSON').fill(JSON.stringify(POD));
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('Refused in admission by ResourceQuota.').waitFor();
  });

  test("tells who changed a deployment's image, and leads to the object as that left it", async () => {
    const page = await consoleBrowser.signedIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await consoleBrowser.server.client('alice').expect(200, {
      method: 'PATCH',
      path: `${DEPLOYMENTS}/web`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { spec: { template: { spec: podSpec('nginx:2') } } },
    });
    const row = page.getByRole('region', { name: 'Who changed what' }).getByRole('row', { name: /nginx:1 → nginx:2/ });
    await row.waitFor();
    expect(await row.getByRole('cell').nth(1).textContent()).toBe('alice');
    await row.getByRole('link', { name: 'Deployment shop/web' }).click();
    await page.getByRole('heading', { name: 'web' }).waitFor();
    await page.locator('.cm-line', { hasText: 'image: nginx:2' }).first().waitFor();
    await page.locator('.change-details .author', { hasText: 'alice' }).waitFor();
  });

  test('names the client that makes the most requests', async () => {
    const page = await consoleBrowser.signedIn();
    const busiest = page.getByRole('region', { name: 'Clients with the most requests' }).locator('tbody tr').first();
    await busiest.waitFor();
    const alice = consoleBrowser.server.client('alice');
    let sent = 0;
    const sendSome = async (): Promise<void> => {
      for (let count = 0; count < 25; count++, sent++) await alice.send({ path: DEPLOYMENTS, headers: { 'user-agent': 'busy-bee/1.0 (linux/amd64)' } });
    };
    // The pages of this file have asked for much too.
    await vi.waitFor(async () => {
      await sendSome();
      expect(await busiest.textContent()).toContain('busy-bee');
    }, SOON);
    await expect.poll(() => busiest.getByRole('cell').allTextContents(), SOON).toEqual(['alice', 'busy-bee/1.0', sent.toLocaleString('en'), '0']);
  });
});

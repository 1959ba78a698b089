import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { CommandProcess, temporaryFolder } from '../support/server.ts';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser();
const api = () => consoleBrowser.server.client();
const configMap = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({ metadata: { name, labels }, data });

describe.runIf(hasChromium)('signing in', () => {
  test('by the link takes one click, and the code leaves the address', async () => {
    const page = await consoleBrowser.page();
    await page.goto(await consoleBrowser.link());
    await page.locator('.user', { hasText: 'admin' }).waitFor();
    expect(page.url()).not.toContain('code');
    // The session outlives the page.
    await page.reload();
    await page.locator('.shell').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('by a token; one that is wrong is told so', async () => {
    const page = await consoleBrowser.page();
    await page.goto(consoleBrowser.address);
    await page.getByLabel('Bearer token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Bearer token').fill('alice-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.user', { hasText: 'alice' }).waitFor();
  });

  test('without a client certificate is refused', async () => {
    const page = await consoleBrowser.page();
    await page.goto(consoleBrowser.address);
    await page.getByRole('button', { name: /client certificate/ }).click();
    await page.getByRole('alert').waitFor();
  });

  test("by the client certificate of the administrator's kubeconfig", async () => {
    const dataDir = temporaryFolder();
    const server = new CommandProcess(['up', '--secure-port=0', `--data-dir=${dataDir}`]);
    // It is written when the server has its port.
    const { clusters, users } = await vi.waitFor(() => parse(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')), SOON);
    const origin = clusters[0].cluster.server;
    const [cert, key] = ['client-certificate-data', 'client-key-data'].map((field) => Buffer.from(users[0].user[field], 'base64')) as [Buffer, Buffer];
    const page = await consoleBrowser.page({ clientCertificates: [{ origin, cert, key }] });
    await page.goto(`${origin}/console/`);
    // The certificate alone makes no session: whoever has it says so.
    await page.getByRole('button', { name: /client certificate/ }).click();
    await page.locator('.user', { hasText: 'admin' }).waitFor();
    await page.goto(`${origin}/console/#/api/v1/namespaces`);
    await page.getByRole('link', { name: 'kube-system' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await server.stop();
  });
});

describe.runIf(hasChromium)('tables', () => {
  test('are live, and a row that changes flashes', async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'live' } });
    await api().create('/api/v1/namespaces/live/configmaps', configMap('first'));
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/api/v1/namespaces/live/configmaps');
    await page.getByRole('link', { name: 'first' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await api().create('/api/v1/namespaces/live/configmaps', configMap('second', { a: '1' }));
    const row = page.getByRole('row', { name: /second/ });
    await row.waitFor();
    expect(await row.getAttribute('class')).toMatch(/flash/);
    await api().send({ method: 'DELETE', path: '/api/v1/namespaces/live/configmaps/first' });
    await page.getByRole('link', { name: 'first' }).waitFor({ state: 'detached' });
    expect(await page.locator('.kubectl code').textContent()).toBe('kubectl get configmaps -n live --watch');
  });

  test('of a definition that is new appear in the tree', async () => {
    const page = await consoleBrowser.signedIn();
    await page.getByText('core', { exact: true }).waitFor();
    await api().create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'boats.harbour.example' },
      spec: {
        group: 'harbour.example',
        scope: 'Namespaced',
        names: { plural: 'boats', singular: 'boat', kind: 'Boat' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
      },
    });
    await page.getByText('harbour.example', { exact: true }).click();
    await page.getByRole('link', { name: 'boats', exact: true }).click();
    await page.getByRole('heading', { name: /boats/ }).waitFor();
  });

  test('are searched, sorted, and selected by labels with completion', async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'find' } });
    for (const [name, tier, count] of [
      ['alpha', 'front', 1],
      ['beta', 'back', 3],
      ['gamma', 'back', 2],
    ] as const) {
      const data = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
      await api().create('/api/v1/namespaces/find/configmaps', configMap(name, data, { tier }));
    }
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/api/v1/namespaces/find/configmaps');
    const names = async () => (await page.locator('tbody tr td:first-child').allTextContents()).filter((name) => name !== 'kube-root-ca.crt');
    await page.getByRole('link', { name: 'gamma' }).waitFor();
    await page.getByRole('button', { name: 'Data' }).click();
    await expect.poll(names, SOON).toEqual(['alpha', 'gamma', 'beta']);
    await page.getByRole('button', { name: 'Data' }).click();
    await expect.poll(names, SOON).toEqual(['beta', 'gamma', 'alpha']);

    await page.keyboard.press('/');
    await page.keyboard.type('alph');
    await expect.poll(names, SOON).toEqual(['alpha']);
    await page.getByLabel('Search in the rows').fill('');

    const selector = page.getByRole('combobox', { name: 'Label selector' });
    await selector.click();
    await selector.pressSequentially('ti');
    await page.getByRole('option', { name: 'tier' }).click();
    await page.getByRole('option', { name: 'back' }).click();
    await expect.poll(names, SOON).toEqual(['beta', 'gamma']);
    expect(await page.locator('.kubectl code').textContent()).toBe('kubectl get configmaps -n find -l tier=back --watch');
  });

  test('show what RBAC refuses as refused, with the rule that is missing', async () => {
    const page = await consoleBrowser.signedIn('mallory');
    await consoleBrowser.go(page, '/api/v1/namespaces/default/secrets');
    const refused = page.getByRole('alert', { name: 'Refused' });
    await refused.waitFor();
    const text = await refused.textContent();
    expect(text).toContain('secrets is forbidden: User "mallory" cannot list resource "secrets"');
    expect(text).toContain('verbs: ["list","watch"]');
    expect(text).toContain('kubectl create role console-user --verb list,watch --resource secrets -n default');
  });
});

describe.runIf(hasChromium)('the keyboard', () => {
  test('goes to resources, along rows and into them', async () => {
    await api().create('/api/v1/namespaces', { metadata: { name: 'keys' } });
    await api().create('/api/v1/namespaces/keys/configmaps', configMap('aaa'));
    await api().create('/api/v1/namespaces/keys/configmaps', configMap('bbb'));
    const page = await consoleBrowser.signedIn();
    await page.getByText('core', { exact: true }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'pods' }).waitFor();
    await page.getByLabel('Namespace', { exact: true }).selectOption('keys');
    await page.getByRole('heading', { name: 'pods' }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('link', { name: 'bbb' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await expect.poll(() => page.locator('tr.selected td').first().textContent(), SOON).toBe('aaa');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Next row').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'aaa' }).waitFor();
    await page.keyboard.press(':');
    await page.keyboard.type('deploy');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /deployments/ }).waitFor();
  });
});

describe.runIf(hasChromium)('on a phone', () => {
  test('the tree is a menu, and nothing is wider than the screen', async () => {
    await api().create('/api/v1/namespaces/default/configmaps', configMap('pocket'));
    const page = await consoleBrowser.signedIn('admin', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await page.getByRole('button', { name: 'Menu', exact: true }).tap();
    await page.getByRole('link', { name: 'configmaps', exact: true }).tap();
    await page.getByRole('heading', { name: 'configmaps' }).waitFor();
    await page.getByRole('link', { name: 'pocket' }).tap();
    await page.getByRole('heading', { name: 'pocket' }).waitFor();
    await page.locator('.yaml .cm-content').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });
});

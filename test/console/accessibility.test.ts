import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ConsoleBrowser, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser(['--history=1h']);
const api = () => consoleBrowser.server.client();

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds that is serious or critical, in words. */
async function violations(page: Page): Promise<string[]> {
  // The driver runs scripts that no policy of the page's own would let in.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(`${axe.source};undefined`);
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }).then(({ violations }) => violations)`,
  )) as Violation[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`);
}

const VIEWS: readonly [name: string, path: string, ready: string][] = [
  ['the overview', '/', '.card'],
  ['the server', '/server', '.chart'],
  ['requests', '/requests', '.requests'],
  ['explanations', '/explain', '.explain'],
  ['a table', '/api/v1/namespaces', 'tbody tr td a'],
  ['an object', '/api/v1/namespaces/default/configmaps/seen', '.cm-line'],
  ['a graph', '/api/v1/namespaces/default/configmaps/seen?tab=graph', '.graph svg'],
  ['a new object', '/api/v1/namespaces/default/configmaps?create', '.cm-line'],
];

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** The last change but one: the list of all, and the moment that it made. */
async function showThePast(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^\d+ changes$/ }).click();
  await page.locator('.timeline .change-row').nth(1).click();
  await page.getByRole('button', { name: 'Back to now' }).waitFor();
  await page.locator('.timeline .change-details').waitFor();
}

/** What opens in or above a view. */
const OPENED: readonly [name: string, path: string, open: (page: Page) => Promise<void>][] = [
  [
    'changes, and what one of them changed',
    '/changes?search=seen',
    async (page) => {
      await page.locator('.change-row', { hasText: 'data.a: 1 → 2' }).click();
      await page.locator('.change-details ins').first().waitFor();
    },
  ],
  [
    'a table of the past',
    CONFIG_MAPS,
    async (page) => {
      await showThePast(page);
      await page.getByRole('link', { name: 'seen', exact: true }).waitFor();
    },
  ],
  [
    'an object of the past',
    `${CONFIG_MAPS}/seen`,
    async (page) => {
      await showThePast(page);
      await page.locator('.live', { hasText: 'As it was' }).waitFor();
      // Its documentation is longer than its place.
      await page.locator('.cm-line', { hasText: 'resourceVersion' }).click();
      await page.locator('.docs').waitFor();
      await page.getByRole('button', { name: /^\d+ changes$/ }).click();
      await page.locator('.timeline .change-list').waitFor({ state: 'detached' });
    },
  ],
  [
    'what a new object would be',
    `${CONFIG_MAPS}?create`,
    async (page) => {
      await page.getByRole('button', { name: 'Check by dry run' }).click();
      await page.getByRole('region', { name: 'What would change' }).waitFor();
    },
  ],
  [
    'what deleting does',
    `${CONFIG_MAPS}/owner`,
    async (page) => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByText('waits for').waitFor();
    },
  ],
  [
    'the help of keys',
    `${CONFIG_MAPS}/seen`,
    async (page) => {
      await page.locator('.cm-line').first().waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('Overview').waitFor();
    },
  ],
];
const SETTINGS: readonly [name: string, options: BrowserContextOptions][] = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
];

describe.runIf(hasChromium)('axe finds nothing serious', () => {
  beforeAll(async () => {
    await api().create(CONFIG_MAPS, { metadata: { name: 'seen' }, data: { a: '1' } });
    // One that changes more than its place can show, and another after it.
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-${index}`, 'v'.repeat(100)]));
    for (const data of [{ a: '2', ...many }, { a: '3' }]) {
      await api().send({ method: 'PATCH', path: `${CONFIG_MAPS}/seen`, headers: { 'content-type': 'application/merge-patch+json' }, body: { data } });
    }
    const { metadata } = await api().create(CONFIG_MAPS, { metadata: { name: 'owner', finalizers: ['example.com/hold'] } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid }];
    await api().create(CONFIG_MAPS, { metadata: { name: 'owned', finalizers: ['example.com/hold'], ownerReferences } });
  });

  test.each(SETTINGS)('in any view, %s', async (_, options) => {
    const page = await consoleBrowser.signedIn('admin', options);
    const found: string[] = [];
    for (const [name, path, ready] of VIEWS) {
      await consoleBrowser.go(page, path);
      await page.locator(ready).first().waitFor();
      found.push(...(await violations(page)).map((violation) => `${name}: ${violation}`));
    }
    expect(found).toEqual([]);
  });

  test.each(SETTINGS)('in what opens in or above one, %s', async (_, options) => {
    const page = await consoleBrowser.signedIn('admin', options);
    const found: string[] = [];
    for (const [name, path, open] of OPENED) {
      await consoleBrowser.go(page, path);
      await open(page);
      found.push(...(await violations(page)).map((violation) => `${name}: ${violation}`));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(found).toEqual([]);
  });

  test('where one signs in, and where one is refused', async () => {
    const page = await consoleBrowser.page();
    await page.goto(consoleBrowser.address);
    await page.getByLabel('Bearer token').waitFor();
    expect(await violations(page)).toEqual([]);
    const refused = await consoleBrowser.signedIn('mallory');
    await consoleBrowser.go(refused, '/api/v1/secrets');
    await refused.getByRole('alert', { name: 'Refused' }).waitFor();
    expect(await violations(refused)).toEqual([]);
  });
});

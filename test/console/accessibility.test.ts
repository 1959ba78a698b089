import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ConsoleBrowser, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser();
const api = () => consoleBrowser.server.client();

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds that is serious or critical, in words. */
async function violations(page: Page): Promise<string[]> {
  // The driver runs scripts that no policy of the page's own would let in.
  await page.evaluate(`${axe.source};undefined`);
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
const SETTINGS: readonly [name: string, options: BrowserContextOptions][] = [
  ['light', {}],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
];

describe.runIf(hasChromium)('axe finds nothing serious', () => {
  beforeAll(async () => {
    await api().create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'seen' }, data: { a: '1' } });
  });

  test.each(SETTINGS)('in any view, %s', async (_, options) => {
    const page = await consoleBrowser.signedIn('admin', options);
    const found: string[] = [];
    for (const [name, path, ready] of VIEWS) {
      await consoleBrowser.go(page, path);
      await page.locator(ready).first().waitFor();
      found.push(...(await violations(page)).map((violation) => `${name}: ${violation}`));
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect([...found, ...(await violations(page))]).toEqual([]);
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

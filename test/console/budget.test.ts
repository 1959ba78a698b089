import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { ConsoleBrowser, SOON, hasChromium } from './browser.ts';

const consoleBrowser = new ConsoleBrowser();
const api = () => consoleBrowser.server.client();

const MAX_BYTES = 400 * 1024;
/** What is loaded until the first view is there: page, style, scripts, session, discovery, what the view shows, and the watches that keep it so. */
const MAX_FIRST_BYTES = 100 * 1024;
const MAX_FIRST_REQUESTS = 30;
/** Far more than it takes; a machine that does other things too keeps it all the same. */
const FIRST_VIEW_LIMIT_MS = 5_000;
const OBJECTS = 2_000;
const MAX_ROWS_IN_DOCUMENT = 100;
const MAX_HEAP_BYTES = 60 * 2 ** 20;

describe('the page', () => {
  test(`has no more than ${MAX_BYTES / 1024} KB, compressed`, () => {
    const folder = join(inject('distDir'), 'console');
    const compressed = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.br'));
    const bytes = compressed.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });
});

describe.runIf(hasChromium)('the first view', () => {
  test('takes few requests and bytes, none of them to anybody else', async () => {
    const page = await consoleBrowser.page();
    const urls: string[] = [];
    let bytes = 0;
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    page.on('request', (request) => urls.push(request.url()));
    const link = await consoleBrowser.link();
    const startMs = performance.now();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'pods', exact: true }).waitFor();
    const tookMs = performance.now() - startMs;
    expect(urls.filter((url) => !url.startsWith(consoleBrowser.server.url) && !url.startsWith('data:'))).toEqual([]);
    expect(urls.length).toBeLessThanOrEqual(MAX_FIRST_REQUESTS);
    expect(bytes).toBeLessThanOrEqual(MAX_FIRST_BYTES);
    expect(tookMs).toBeLessThanOrEqual(FIRST_VIEW_LIMIT_MS);
  });
});

describe.runIf(hasChromium)('a table of thousands', () => {
  test('has only what is seen in the document, and little in memory', async () => {
    const client = api();
    const names = Array.from({ length: OBJECTS }, (_, index) => `map-${String(index).padStart(5, '0')}`);
    await client.create('/api/v1/namespaces', { metadata: { name: 'many' } });
    for (let from = 0; from < OBJECTS; from += 100) {
      await Promise.all(names.slice(from, from + 100).map((name) => client.create('/api/v1/namespaces/many/configmaps', { metadata: { name } })));
    }
    const page = await consoleBrowser.signedIn();
    await consoleBrowser.go(page, '/api/v1/namespaces/many/configmaps');
    await page.locator('.count', { hasText: OBJECTS.toLocaleString('en') }).waitFor();
    const table = page.getByRole('region', { name: 'configmaps' });
    await table.focus();
    await page.keyboard.press('End');
    await page.getByRole('link', { name: names.at(-1)! }).waitFor();
    expect(await table.locator('tbody tr').count()).toBeLessThanOrEqual(MAX_ROWS_IN_DOCUMENT);
    // A row that changes far away changes nothing that is seen; one that is seen flashes.
    await api().send({
      method: 'PATCH',
      path: `/api/v1/namespaces/many/configmaps/${names.at(-1)!}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { data: { a: '1' } },
    });
    await expect.poll(() => page.getByRole('row', { name: names.at(-1)! }).getAttribute('class'), SOON).toMatch(/flash/);
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    expect(usedSize).toBeLessThanOrEqual(MAX_HEAP_BYTES);
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ServerRequest } from '../endpoints/request.ts';
import { FakeExchange } from '../server/testing/fake-exchange.ts';
import { logFilesHandler, withoutTrailingSlashes } from './log-files.ts';

const MODIFIED = new Date('2026-01-02T03:04:05.678Z');
const MODIFIED_TEXT = 'Fri, 02 Jan 2026 03:04:05 GMT';
const folder = mkdtempSync(join(tmpdir(), 'binnacle-logs-'));
mkdirSync(join(folder, 'apt'));
writeFileSync(join(folder, 'a.log'), '0123456789');
writeFileSync(join(folder, 'b<&:.log'), '');
writeFileSync(join(folder, 'wtmp'), Buffer.from([0, 1, 2]));
symlinkSync('/dev/null', join(folder, 'device'));
for (const name of ['a.log', '.']) utimesSync(join(folder, name), MODIFIED, MODIFIED);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ask(target: string, headers = {}, method = 'GET'): Promise<FakeExchange> {
  const exchange = new FakeExchange(target, { headers, method });
  const path = target.split('?')[0]!;
  await logFilesHandler(folder)({ exchange, info: { path } } as unknown as ServerRequest);
  return exchange;
}

test('a folder is a page of links', async () => {
  const { status, responseHeaders, body } = await ask('/logs/');
  expect([status, responseHeaders]).toEqual([200, { 'content-type': 'text/html; charset=utf-8', 'last-modified': MODIFIED_TEXT }]);
  expect(body).toBe(`<!doctype html>
<meta name="viewport" content="width=device-width">
<pre>
<a href="a.log">a.log</a>
<a href="apt/">apt/</a>
<a href="./b%3C&amp;:.log">b&lt;&amp;:.log</a>
<a href="device">device</a>
<a href="wtmp">wtmp</a>
</pre>
`);
});

test('a file is its bytes', async () => {
  const { status, responseHeaders, body } = await ask('/logs/a.log');
  expect([status, body]).toEqual([200, '0123456789']);
  expect(responseHeaders).toEqual({
    'accept-ranges': 'bytes',
    'content-length': 10,
    'content-type': 'text/plain; charset=utf-8',
    'last-modified': MODIFIED_TEXT,
  });
  expect((await ask('/logs/wtmp')).responseHeaders['content-type']).toBe('application/octet-stream');
  expect((await ask('/logs/b%3C&:.log')).responseHeaders['content-length']).toBe(0);
});

test.each([
  ['/logs', 301, 'logs/'],
  ['/logs/apt?x=1', 301, 'apt/?x=1'],
  ['/logs/a.log/', 301, '../a.log'],
  ['/logs/index.html', 301, './'],
])('%s is %i to %s', async (target, code, location) => {
  const { status, responseHeaders } = await ask(target);
  expect([status, responseHeaders['location']]).toEqual([code, location]);
});

test.each([
  ['/logs/none', 404, '404 page not found\n'],
  ['/logs/a.log/none', 404, '404 page not found\n'],
  ['/logs/device', 404, '404 page not found\n'],
  [`/logs/${'a'.repeat(300)}`, 404, 'file not found\n'],
  ['/logs/../etc/passwd', 400, 'invalid URL path\n'],
  ['/logs/apt/..%2f..%2fpasswd', 400, 'invalid URL path\n'],
  ['/logs/%zz', 400, 'invalid URL path\n'],
  ['/logs/a.log%00', 400, 'invalid URL path\n'],
])('%s is refused', async (target, code, text) => {
  const { status, body } = await ask(target);
  expect([status, body]).toEqual([code, text]);
});

test.each([
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=8-', 206, '89', 'bytes 8-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
  ['bytes=10-', 416, 'invalid range: failed to overlap\n', 'bytes */10'],
  ['bytes=0-1,3-4', 200, '0123456789', undefined],
  ['bytes=5-1', 200, '0123456789', undefined],
])('%s', async (range, code, text, contentRange) => {
  const { status, body, responseHeaders } = await ask('/logs/a.log', { range });
  expect([status, body, responseHeaders['content-range']]).toEqual([code, text, contentRange]);
});

test('what has not changed is not sent', async () => {
  expect((await ask('/logs/a.log', { 'if-modified-since': MODIFIED_TEXT })).status).toBe(304);
  expect((await ask('/logs/a.log', { 'if-modified-since': 'Fri, 02 Jan 2026 03:04:04 GMT' })).status).toBe(200);
});

test('it is read, not written', async () => {
  await expect(ask('/logs/a.log', {}, 'DELETE')).rejects.toThrow('the server does not allow this method on the requested resource');
});

test('slashes at the end are taken off in one pass', () => {
  expect(['', '/', '/a//', '/a/b', '//'].map(withoutTrailingSlashes)).toEqual(['', '', '/a', '/a/b', '']);
  const startedAtMs = performance.now();
  expect(withoutTrailingSlashes(`${'/'.repeat(250_000)}x`)).toHaveLength(250_001);
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});

import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { HtmlLinks } from './html-links.ts';
import { rewrittenLink } from './links.ts';

const place = { prefix: '/api/v1/namespaces/default/pods/web/proxy', backendHost: '10.1.2.3:8080', clientHost: 'localhost:8001' };

test.each([
  ['/css/site.css', `${place.prefix}/css/site.css`],
  ['/', `${place.prefix}/`],
  ['/a/../b/?q=1#top', `${place.prefix}/b/?q=1#top`],
  ['http://10.1.2.3:8080/x', `${place.prefix}/x`],
  ['https://localhost:8001/x', `https://localhost:8001${place.prefix}/x`],
  [`${place.prefix}/x`, `${place.prefix}/x`],
  ['relative/x', 'relative/x'],
  ['?q=1', '?q=1'],
  ['//cdn.example.com/x.js', '//cdn.example.com/x.js'],
  ['https://example.com/x', 'https://example.com/x'],
  ['mailto:me@example.com', 'mailto:me@example.com'],
  ['/with space', `${place.prefix}/with%20space`],
  ['/a%2Fb', `${place.prefix}/a/b`],
  ['/%zz', '/%zz'],
])('%s becomes %s', (link, expected) => {
  expect(rewrittenLink(link, place)).toBe(expected);
});

test('behind another API server, links to the same host name that host', () => {
  const aggregated = { prefix: '', backendHost: '10.0.0.7:443', clientHost: '10.0.0.7:443', origin: 'https://10.0.0.7:443' };
  expect(rewrittenLink('/apis/x?a=1', aggregated)).toBe('https://10.0.0.7:443/apis/x?a=1');
  expect(rewrittenLink('http://10.0.0.7:443/x', aggregated)).toBe('https://10.0.0.7:443/x');
  expect(rewrittenLink('https://example.com/x', aggregated)).toBe('https://example.com/x');
  expect(rewrittenLink('x', aggregated)).toBe('x');
  expect(rewrittenLink('/a%2Fb', aggregated)).toBe('https://10.0.0.7:443/a%2Fb');
  expect(rewrittenLink('/é b%2Fc', aggregated)).toBe('https://10.0.0.7:443/%C3%A9%20b/c');
});

async function rewritten(html: string, chunkBytes: number): Promise<string> {
  const bytes = Buffer.from(html);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) => bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes));
  return (await buffer(Readable.from(chunks).pipe(new HtmlLinks((link) => (link.startsWith('/') ? `/p${link}` : link))))).toString();
}

describe('in a page', () => {
  test.each([
    ['<a href="/x">é</a>', '<a href="/p/x">é</a>'],
    [`<A HREF='/x?a=1&amp;b=2' Class=c>`, '<a href="/p/x?a=1&amp;b=2" class="c">'],
    ['<img src=/i.png><br/><img src="https://e.com/i.png" />', '<img src="/p/i.png"><br/><img src="https://e.com/i.png"/>'],
    ['<div href="/x" title="a > b">/x</div>', '<div href="/x" title="a &gt; b">/x</div>'],
    [`<input disabled value='"q" &amp;lt; &copy; &#233; &#x41;'>`, '<input disabled="" value="&#34;q&#34; &amp;lt; &copy; é A">'],
    ['<a href="/é b"><a href=/x/>', '<a href="/p/é b"><a href="/p/x/">'],
    ['<!-- <a href="/x"> --><!doctype html><?x?>', '<!-- <a href="/x"> --><!doctype html><?x?>'],
    [
      '<script src="/s.js"></script><script>"<a href=\'/x\'>"</script><a href="/y">',
      '<script src="/p/s.js"></script><script>"<a href=\'/x\'>"</script><a href="/p/y">',
    ],
    ['1 < 2 <3 <a href="/x"', '1 < 2 <3 <a href="/x"'],
  ])('%s', async (html, expected) => {
    for (const chunkBytes of [1, 3, 1000]) expect(await rewritten(html, chunkBytes)).toBe(expected);
  });

  test('what is long, or never ends, is read once and costs what it is long', async () => {
    const script = `<script>${'x < y;'.repeat(20_000)}</script><a href="/x">`;
    expect(await rewritten(script, 7)).toBe(script.replace('"/x"', '"/p/x"'));
    const endless = `<a href="${'>'.repeat(200_000)}`;
    const startedAtMs = performance.now();
    expect((await rewritten(endless, 20)).length).toBe(endless.length);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  });

  // Each took a regular expression from seconds to minutes.
  test.each([
    ['a tag that does not end', `<${'a'.repeat(60_000)}`],
    ['names of attributes', `<a ${'a'.repeat(60_000)}>`],
    ['attributes without values', `<a ${'a '.repeat(30_000)}>`],
    ['spaces', `<a x${' '.repeat(60_000)}>`],
    ['quotes', `<a ${'"'.repeat(59_999)}>`],
    ['elements of text', '<script></script>'.repeat(3_500)],
  ])('%s are read once', async (_what, html) => {
    const startedAtMs = performance.now();
    expect((await rewritten(html, 64 * 1024)).length).toBeGreaterThan(0);
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });

  test('a tag without an end does not fill the memory', async () => {
    const html = `<a href="${'x'.repeat(3 << 20)}`;
    expect((await rewritten(html, 64 * 1024)).length).toBe(html.length);
  });
});

import { expect, test } from 'vitest';
import { firstQueryValue, parseQuery } from './request-target.ts';

const QUERIES = [
  '',
  'watch',
  'watch=',
  'watch=1',
  'watch=1&watch=0',
  'a=watch&b=2',
  'watcher=1',
  'xwatch=1',
  '&&watch=1',
  'w%61tch=a%20b',
  'watch=a+b',
  'watch=%zz',
  'watch=%ff',
  'a=1&watch=x=y',
  'wa+tch=1',
  '=1',
  'watch&watch=1',
  'limit=5&labelSelector=a%3Db',
  '%',
  'watch=%26a',
  '%77%61%74%63%68=1',
  '%77%61%74%63%6=1',
  'watc%68',
  'watch%=1',
  'watc%&h=1',
  'watch%3D=1&watch=2',
  'watch=%zz&watch=1',
  'watch=a;b&watch=1',
  'watch;=1',
];

test.each(QUERIES)('%j reads as parseQuery reads it', (query) => {
  expect(firstQueryValue(query, 'watch')).toBe(parseQuery(query).get('watch') ?? undefined);
});

test('a value is found without looking at the rest of the query for each pair', () => {
  // A string that counts the characters that are looked at would be none; but with one search of the rest for each pair this takes seconds.
  const query = `${'a&'.repeat(9_999)}${'x'.repeat(1_000_000)}`;
  const startedAtMs = performance.now();
  for (const name of ['timeout', 'watch', 'fieldSelector', 'labelSelector']) expect(firstQueryValue(query, name)).toBeUndefined();
  expect(firstQueryValue(`%${query}&pretty=1`, 'pretty')).toBe('1');
  expect(performance.now() - startedAtMs).toBeLessThan(500);
});

test('a pair with a malformed escape or a semicolon is none', () => {
  expect([...parseQuery('limit=%zz&a=1;b=2&%=3&c=%41')]).toEqual([['c', 'A']]);
});

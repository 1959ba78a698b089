import { expect, test } from 'vitest';
import { firstQueryValue } from './request-target.ts';

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
];

test.each(QUERIES)('%j reads as URLSearchParams reads it', (query) => {
  expect(firstQueryValue(query, 'watch')).toBe(new URLSearchParams(query).get('watch') ?? undefined);
});

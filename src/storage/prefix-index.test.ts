import { expect, test } from 'vitest';
import { PrefixIndex } from './prefix-index.ts';

test('an item is found under every key that starts with its prefix', () => {
  const index = new PrefixIndex<string>();
  for (const prefix of ['', '/', '/a/', '/a/b/', '/a/b', '/a/bc', '/b/', 'plain']) index.add(prefix, prefix);
  const under = (key: string): string[] => {
    const found: string[] = [];
    index.forEachUnder(key, (item) => found.push(item));
    return found.toSorted();
  };
  expect(under('/a/b/c')).toEqual(['', '/', '/a/', '/a/b', '/a/b/']);
  expect(under('/a/b')).toEqual(['', '/', '/a/', '/a/b']);
  expect(under('plainly')).toEqual(['', 'plain']);
  expect(under('__proto__/')).toEqual(['']);
  index.remove('/a/', '/a/');
  index.remove('/a/', 'never there');
  expect(under('/a/x')).toEqual(['', '/']);
  expect([...index]).toHaveLength(7);
});

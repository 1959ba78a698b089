import { describe, expect, test } from 'vitest';
import { compareKeys, prefixEnd } from './key-order.ts';

const KEYS = [
  '',
  'a',
  'a/',
  'a/b',
  'a0',
  'aa',
  'b',
  'z',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  'a\u{1f600}',
  'a\uffff',
  '\u{10ffff}',
  '\u{10ffff}a',
];

describe('keys', () => {
  test('compare as their UTF-8 bytes', () => {
    for (const a of KEYS) for (const b of KEYS) expect(Math.sign(compareKeys(a, b)), `${a} ${b}`).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  });

  test('that start with a prefix end before its end', () => {
    expect(prefixEnd('/registry/pods/')).toBe('/registry/pods0');
    expect(prefixEnd('')).toBeUndefined();
    expect(prefixEnd('\u{10ffff}')).toBeUndefined();
    expect(prefixEnd('a\u{10ffff}')).toBe('b');
    for (const prefix of KEYS) {
      const end = prefixEnd(prefix);
      if (end === undefined) continue;
      for (const key of KEYS) {
        const isInside = compareKeys(prefix, key) <= 0 && compareKeys(key, end) < 0;
        expect(isInside, `${key} under ${prefix}`).toBe(key.startsWith(prefix));
      }
    }
  });
});

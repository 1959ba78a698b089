import { expect, test } from 'vitest';
import { type Wide, fnv1, fnv1a } from './fnv.ts';

const shown = ({ high, low }: Wide): string => high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');

test.each([
  ['', 'cbf29ce484222325', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c', 'af63bd4c8601b7be'],
  ['foobar', '85944171f73967e8', '340d8765a4dda9c2'],
])('the hashes of %j are those of the specification', (text, one, older) => {
  expect(shown(fnv1a(Buffer.from(text)))).toBe(one);
  expect(shown(fnv1(Buffer.from(text)))).toBe(older);
});

test('they are computed as the specification says, for any bytes', () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 31) % 256));
  let [one, older] = [0xcbf29ce484222325n, 0xcbf29ce484222325n];
  for (const byte of bytes) {
    one = BigInt.asUintN(64, (one ^ BigInt(byte)) * 0x100000001b3n);
    older = BigInt.asUintN(64, older * 0x100000001b3n) ^ BigInt(byte);
  }
  expect(shown(fnv1a(bytes))).toBe(one.toString(16).padStart(16, '0'));
  expect(shown(fnv1(bytes))).toBe(older.toString(16).padStart(16, '0'));
});

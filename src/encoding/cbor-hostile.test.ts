import { expect, test } from 'vitest';
import { decodeCbor } from './cbor-reader.ts';
import { Random } from '../util/test-random.ts';

/* Bodies of up to 3 MiB that are made to take long: each ends in a value or an Error, soon. */

const BODY_BYTES = 3 * 1024 * 1024;
const LIMIT_MS = 1500;
const filled = (start: string, unit: string, end = ''): Buffer => {
  const [head, piece, tail] = [start, unit, end].map((hex) => Buffer.from(hex, 'hex'));
  return Buffer.concat([head!, Buffer.alloc(Math.floor((BODY_BYTES - head!.length - tail!.length) / piece!.length) * piece!.length, piece!), tail!]);
};
const filledWith = (count: number, unit: string): Buffer => Buffer.from(`9f${unit.repeat(count)}ff`, 'hex');

test.each<[string, Buffer]>([
  ['a byte string of empty chunks', filled('5f', '40', 'ff')],
  ['a text of single letters', filled('7f', '6161', 'ff')],
  ['a list without an end', filled('9f', '01')],
  ['maps within maps', filled('', 'a14161')],
  ['tags upon tags', filled('', 'c6')],
  ['a map of one key', filled('bf', '416101', 'ff')],
  ['a number of three megabytes', filled('c25a002ffff0', 'ff')],
  ['a negative one', filled('c35a002ffff0', 'ff')],
  ['text that is no UTF-8', filled('7a002ffffb', 'c3')],
  ['lists that promise two billion', filled('', '9a7fffffff')],
  ['bytes to be told as base64', filled('d65a002ffff9', 'ff')],
  ['breaks', filled('', 'ff')],
  ['times as text', filled('9f', 'c074323031332d30332d32315432303a30343a30305a', 'ff')],
  ['as many as may be', filledWith(4_500, 'c074323031332d30332d32315432303a30343a30305a')],
  ['times with fractions and zones', filledWith(4_500, 'c07823323031332d30332d32315432303a30343a30302e3132333435363738392b30323a3030')],
  ['times as numbers', filled('9f', 'c11a514b67b0', 'ff')],
  ['as many as may be', filledWith(4_500, 'c1fb41d452d9ec200000')],
  ['a time of three megabytes', filled('c07a002ffffa', '31')],
  ['six tags upon each of many values', filled('9f', 'c6c6c6c6c6c6f6', 'ff')],
])('%s', (_, body) => {
  const startMs = performance.now();
  try {
    decodeCbor(body);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError);
  }
  expect(performance.now() - startMs).toBeLessThan(LIMIT_MS);
});

test('50,000 objects of which some bytes were changed', () => {
  const random = new Random(8949);
  // {"kind": "A", "metadata": {"name": "b", "labels": {"c": "d"}}, "n": [1, -1, 1.5, true, null, 22(h'ff')]}
  const seed = Buffer.from('d9d9f7a3446b696e644141486d65746164617461a2446e616d654162466c6162656c73a141634164416e860120f93e00f5f6d641ff', 'hex');
  decodeCbor(seed);
  for (let round = 0; round < 50_000; round++) {
    const bytes = Buffer.from(seed);
    for (let count = 1 + random.below(4); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    try {
      decodeCbor(random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes);
    } catch (error) {
      if (!/^(cbor: |EOF$|unexpected EOF$)/.test((error as Error).message)) throw new Error(`round ${round}`, { cause: error });
    }
  }
});

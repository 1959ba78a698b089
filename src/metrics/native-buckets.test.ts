import { expect, test } from 'vitest';
import { NativeBuckets } from './native-buckets.ts';

const bucketsOf = (...values: number[]): NativeBuckets => {
  const buckets = new NativeBuckets();
  for (const value of values) buckets.observe(value);
  return buckets;
};

test('a value on a bound is in the bucket below it', () => {
  // Bounds are powers of 2^(1/8): bucket 0 ends with 1, bucket 8 with 2, bucket -8 with 0.5.
  expect(bucketsOf(1).positive()).toEqual({ spans: [{ offset: 0, length: 1 }], deltas: [1] });
  expect(bucketsOf(2, 0.5).positive()).toEqual({
    spans: [
      { offset: -8, length: 1 },
      { offset: 15, length: 1 },
    ],
    deltas: [1, 0],
  });
  expect(bucketsOf(1.000001).positive().spans).toEqual([{ offset: 1, length: 1 }]);
  for (let index = -40; index <= 40; index++) expect(bucketsOf(2 ** (index / 8)).positive().spans).toEqual([{ offset: index, length: 1 }]);
});

test('gaps of one or two are filled, longer ones begin a span', () => {
  const at = (index: number): number => 2 ** (index / 8);
  expect(bucketsOf(at(0), at(0), at(3), at(7)).positive()).toEqual({
    spans: [
      { offset: 0, length: 4 },
      { offset: 3, length: 1 },
    ],
    deltas: [2, -2, 0, 1, 0],
  });
});

test('zero, what is as good as zero, and negative values', () => {
  const buckets = bucketsOf(0, 1e-39, -1, Number.NaN);
  expect(buckets.zeroCount).toBe(2);
  expect(buckets.negative()).toEqual({ spans: [{ offset: 0, length: 1 }], deltas: [1] });
  expect(buckets.positive()).toEqual({ spans: [], deltas: [] });
});

test('buckets are widened when they become too many, and no count is lost', () => {
  const buckets = new NativeBuckets();
  for (let index = 0; index < 1_000; index++) buckets.observe(1.07 ** index);
  buckets.observe(Infinity);
  const { spans, deltas } = buckets.positive();
  expect(buckets.schema).toBeLessThan(3);
  expect(spans.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(160);
  let [count, total] = [0, 0];
  for (const delta of deltas) total += count += delta;
  expect(total).toBe(1_001);
  buckets.reset();
  expect(buckets).toMatchObject({ schema: 3, zeroCount: 0 });
});

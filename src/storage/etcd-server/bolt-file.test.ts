import { expect, test } from 'vitest';
import { BoltFile, PAGE_BYTES, entriesOf } from './bolt-file.ts';
import { readBolt } from './test-bolt-reader.ts';

const written = (file: BoltFile): Buffer => {
  const bytes = Buffer.concat([...file.pages()]);
  expect(bytes.length).toBe(file.sizeBytes);
  return bytes;
};

/** Keys of 17 bytes, as etcd's are, and values of the given sizes. */
const entriesOfSizes = (sizes: readonly number[]): Map<Buffer, Buffer> =>
  new Map(sizes.map((size, index) => [Buffer.from(String(index).padStart(17, '0')), Buffer.alloc(size, index % 251)]));

test.each([
  ['nothing', []],
  ['an empty value', [0]],
  ['one entry', [10]],
  ['what just fits into a page', [PAGE_BYTES - 16 - 16 - 17]],
  ['a byte more', [PAGE_BYTES - 16 - 16 - 17 + 1]],
  ['what fills two pages', [2 * PAGE_BYTES - 16 - 16 - 17]],
  ['large ones among small ones', [10, 100_000, 10, 10, 1_500_000, 10, 5_000, 1]],
  ['a branch', Array.from({ length: 500 }, (_, i) => i)],
  ['branches of branches', Array.from({ length: 40_000 }, (_, i) => 2_000 + (i % 7))],
])('a bucket with %s is read as it was written', (_, sizes) => {
  const entries = entriesOfSizes(sizes);
  const bytes = written(
    new BoltFile([
      { name: 'key', entries: entriesOf(entries) },
      { name: 'empty', entries: entriesOf(new Map()) },
    ]),
  );
  const buckets = readBolt(bytes);
  expect([...buckets.keys()]).toEqual(['empty', 'key']);
  expect(buckets.get('empty')).toEqual([]);
  const found = buckets.get('key')!;
  expect(found.length).toBe(sizes.length);
  let index = 0;
  for (const [key, value] of entries) {
    expect(found[index]![0].equals(key) && found[index]![1].equals(value)).toBe(true);
    index++;
  }
});

test('entries are put in order', () => {
  const values = new Map(['b', 'a', 'ab', 'B'].map((key) => [Buffer.from(key), Buffer.from(key)]));
  const found = readBolt(written(new BoltFile([{ name: 'x', entries: entriesOf(values) }]))).get('x')!;
  expect(found.map(([key]) => key.toString())).toEqual(['B', 'a', 'ab', 'b']);
});

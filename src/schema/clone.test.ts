import { expect, test } from 'vitest';
import { parseJson } from '../encoding/json.ts';
import { clone, cloneInSlices } from './clone.ts';

const large = {
  items: Array.from({ length: 30_000 }, (_, index) => ({ name: `n${index}`, values: [index, null, [], {}], none: undefined })),
  byName: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, { a: [{ b: index }] }])),
};

test('a copy that is made in slices is the one that is made at once', async () => {
  const copy = await cloneInSlices(large);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(large));
  expect(copy).toStrictEqual(clone(large));
  expect(copy.items[7]!.values[2]).not.toBe(large.items[7]!.values[2]);
  expect('none' in copy.items[0]!).toBe(false);
});

test('others have their turn meanwhile', async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await cloneInSlices(Array.from({ length: 200 }, () => large));
  clearImmediate(next);
  expect(turns).toBeGreaterThan(3);
});

test.each([1, null, 'x', [], {}, [[]]])('%j', async (value) => expect(await cloneInSlices(value)).toStrictEqual(value));

test('a key __proto__ is a key', async () => {
  const hostile = parseJson('{"__proto__":{"polluted":1}}');
  for (const copy of [clone(hostile), await cloneInSlices(hostile)]) {
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  }
});

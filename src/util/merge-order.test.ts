import { expect, test } from 'vitest';
import { mergeOrder } from './merge-order.ts';

test.each([
  [[], []],
  [[['b', 'a']], ['b', 'a']],
  [
    [
      ['a', 'b', 'c'],
      ['b', 'c'],
    ],
    ['a', 'b', 'c'],
  ],
  [
    [
      ['b', 'c'],
      ['c', 'b', 'a'],
    ],
    ['c', 'b', 'a'],
  ],
  [
    [
      ['a', 'c'],
      ['b', 'c'],
    ],
    ['a', 'b', 'c'],
  ],
  [
    [['x', 'b', 'z'], ['x', 'a', 'z'], ['c']],
    ['c', 'x', 'a', 'b', 'z'],
  ],
  [
    [
      ['b', 'a', 'c'],
      ['a', 'b', 'd'],
    ],
    ['a', 'b', 'c', 'd'],
  ],
] as [string[][], string[]][])('%j is merged to %j', (lists, merged) => {
  expect(mergeOrder(lists)).toEqual(merged);
});

import { expect, test } from 'vitest';
import { Bag } from './bag.ts';

test('has what was put in and not taken out, whatever the order', () => {
  const bag = new Bag<{ name: string; bagIndex: number }>();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => ({ name, bagIndex: -1 })) as [
    { name: string; bagIndex: number },
    ...{ name: string; bagIndex: number }[],
  ];
  for (const item of [a, b!, c!, d!]) bag.add(item);
  bag.delete(a);
  bag.delete(c!);
  expect([...bag].map(({ name }) => name).toSorted()).toEqual(['b', 'd']);
  bag.delete(d);
  bag.delete(b);
  expect(bag.size).toBe(0);
  bag.add(c);
  expect([...bag]).toEqual([c]);
});

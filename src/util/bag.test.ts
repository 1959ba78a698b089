import { expect, test } from 'vitest';
import { Bag } from './bag.ts';

test('has what was put in and not taken out, whatever the order', () => {
  const bag = new Bag<{ name: string; bagIndex: number }>();
  const item = (name: string): { name: string; bagIndex: number } => ({ name, bagIndex: -1 });
  const [a, b, c, d] = [item('a'), item('b'), item('c'), item('d')];
  for (const one of [a, b, c, d]) bag.add(one);
  bag.delete(a);
  bag.delete(c);
  expect([...bag].map(({ name }) => name).toSorted()).toEqual(['b', 'd']);
  bag.delete(d);
  bag.delete(b);
  expect(bag.size).toBe(0);
  bag.add(c);
  expect([...bag]).toEqual([c]);
});

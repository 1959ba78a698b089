import { expect, test } from 'vitest';
import { RevisionQueue } from './revision-queue.ts';

test('keeps its order while it grows and shrinks, and finds by revision', () => {
  const queue = new RevisionQueue<{ revision: number }>();
  expect(queue.shift()).toBeUndefined();
  expect(queue.first).toBeUndefined();
  expect(queue.since(0)).toEqual([]);
  let next = 0;
  let oldest = 0;
  const check = (): void => {
    expect(queue.length).toBe(next - oldest);
    expect(queue.first?.revision).toBe(next === oldest ? undefined : 10 * oldest);
    const from = 10 * oldest + 10 * Math.floor(queue.length / 2) - 5;
    expect(queue.since(from).map(({ revision }) => revision)).toEqual(
      Array.from({ length: next - Math.max(Math.ceil(from / 10), oldest) }, (_, i) => 10 * (Math.max(Math.ceil(from / 10), oldest) + i)),
    );
  };
  for (const [pushed, shifted] of [
    [3, 1],
    [7, 6],
    [5, 2],
    [1, 7],
  ] as const) {
    for (let round = 0; round < 100; round++) {
      for (let i = 0; i < pushed; i++) queue.push({ revision: 10 * next++ });
      for (let i = 0; i < shifted && oldest < next; i++) expect(queue.shift()!.revision).toBe(10 * oldest++);
      check();
    }
  }
  expect(queue.since(10 * next)).toEqual([]);
  queue.clear();
  expect(queue.length).toBe(0);
  queue.push({ revision: 1 });
  expect(queue.shift()).toEqual({ revision: 1 });
});

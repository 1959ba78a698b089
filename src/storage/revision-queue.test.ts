import { expect, test } from 'vitest';
import { RevisionQueue } from './revision-queue.ts';

test('keeps its order while it grows and shrinks, and finds by revision', () => {
  const queue = new RevisionQueue<{ revision: number }>();
  expect(queue.shift()).toBeUndefined();
  expect(queue.since(0)).toEqual([]);
  let next = 0;
  let oldest = 0;
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < 3; i++) queue.push({ revision: 10 * next++ });
    for (let i = 0; i < round % 3; i++) expect(queue.shift()!.revision).toBe(10 * oldest++);
    expect(queue.length).toBe(next - oldest);
    expect(queue.first!.revision).toBe(10 * oldest);
    const from = 10 * oldest + 10 * Math.floor(queue.length / 2) - 5;
    expect(queue.since(from)[0]!.revision).toBe(Math.ceil(from / 10) * 10);
  }
  expect(queue.since(10 * next)).toEqual([]);
  queue.clear();
  expect(queue.length).toBe(0);
});

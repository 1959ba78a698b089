import { expect, test } from 'vitest';
import { Deadlines } from './deadlines.ts';
import { TestClock } from './test-clock.ts';

const newItem = (dueMs: number): { dueMs: number; bagIndex: number } => ({ dueMs, bagIndex: 0 });

test('each is called when it is due, in any order of coming, unless it has gone before', () => {
  const clock = new TestClock();
  const called: [dueMs: number, atMs: number][] = [];
  const deadlines = new Deadlines<ReturnType<typeof newItem>>(
    clock,
    ({ dueMs }) => dueMs,
    ({ dueMs }) => called.push([dueMs, clock.nowMs()]),
  );
  const startMs = clock.nowMs();
  const items = [50, 20, 90, 20, 70].map((afterMs) => newItem(startMs + afterMs));
  for (const item of items) deadlines.add(item);
  deadlines.delete(items[0]!);
  deadlines.delete(items[0]!);
  clock.pass(1000);
  expect(called.map(([dueMs, atMs]) => [dueMs - startMs, atMs - startMs])).toEqual([
    [20, 20],
    [20, 20],
    [70, 70],
    [90, 90],
  ]);
  deadlines.add(newItem(clock.nowMs()));
  clock.pass(1);
  expect(called).toHaveLength(5);
});

test('one that another’s end takes away is not called', () => {
  const clock = new TestClock();
  const called: string[] = [];
  const [first, second] = [
    { name: 'a', bagIndex: 0 },
    { name: 'b', bagIndex: 0 },
  ];
  const deadlines = new Deadlines<typeof first>(
    clock,
    () => 1010,
    ({ name }) => {
      called.push(name);
      deadlines.delete(first);
      deadlines.delete(second);
    },
  );
  deadlines.add(first);
  deadlines.add(second);
  clock.pass(100);
  expect(called).toEqual(['a']);
});

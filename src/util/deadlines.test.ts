import { expect, test } from 'vitest';
import type { MonotonicClock } from './clock.ts';
import { Deadlines } from './deadlines.ts';

/** Time that passes when it is told to. */
class FakeClock implements MonotonicClock {
  #nowMs = 1000;
  #timers: { atMs: number; callback: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): { cancel(): void } {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  pass(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#nowMs = next.atMs;
      next.callback();
    }
    this.#nowMs = endMs;
  }
}

const newItem = (dueMs: number): { dueMs: number; bagIndex: number } => ({ dueMs, bagIndex: 0 });

test('each is called when it is due, in any order of coming, unless it has gone before', () => {
  const clock = new FakeClock();
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
  const clock = new FakeClock();
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

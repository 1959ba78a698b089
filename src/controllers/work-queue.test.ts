import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Work, WorkQueue } from './work-queue.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function start(work: Work, workers = 1) {
  const stop = new AbortController();
  const reported: string[] = [];
  const queue = new WorkQueue(work, { signal: stop.signal, report: (error) => void reported.push(error.message), name: 'test', workers });
  return { queue, reported, stop: () => stop.abort() };
}

test('a key is looked at once, however often it was added, and again when it was added meanwhile', async () => {
  const seen: string[] = [];
  const { queue } = start(async (key) => {
    if (seen.push(key) === 1) queue.add('a');
  });
  for (const key of ['a', 'b', 'a', 'b']) queue.add(key);
  expect(seen).toEqual([]);
  await queue.idle();
  expect(seen).toEqual(['a', 'b', 'a']);
});

test('never two workers at one key, nor more of them than there are', async () => {
  const running: string[] = [];
  const widths: number[] = [];
  const again = new Set(['a', 'b', 'c']);
  const { queue } = start(async (key) => {
    expect(running).not.toContain(key);
    widths.push(running.push(key));
    if (again.delete(key)) queue.add(key);
    await new Promise(setImmediate);
    running.splice(running.indexOf(key), 1);
  }, 2);
  for (const key of again) queue.add(key);
  await queue.idle();
  expect(widths).toHaveLength(6);
  expect(Math.max(...widths)).toBe(2);
});

test('what fails is reported, and tried again after ever longer waits', async () => {
  let tries = 0;
  const { queue, reported } = start(async () => {
    if (++tries < 4) throw new Error(`no ${tries}`);
  });
  queue.add('a');
  await queue.idle();
  for (const [waitMs, expected] of [
    [5, 2],
    [9, 2],
    [1, 3],
    [20, 4],
    [60_000, 4],
  ] as const) {
    await vi.advanceTimersByTimeAsync(waitMs);
    await queue.idle();
    expect(tries).toBe(expected);
  }
  expect(reported).toEqual(['no 1', 'no 2', 'no 3']);
});

test('work may ask to be called again; the earliest time counts', async () => {
  let calls = 0;
  const { queue } = start(async () => (++calls === 1 ? 1000 : undefined));
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 300);
  for (const [waitMs, expected] of [
    [99, 0],
    [1, 1],
    [999, 1],
    [1, 2],
    [60_000, 2],
  ] as const) {
    await vi.advanceTimersByTimeAsync(waitMs);
    await queue.idle();
    expect(calls).toBe(expected);
  }
});

test('the signal ends it', async () => {
  const seen: string[] = [];
  const { queue, reported, stop } = start(async (key) => {
    seen.push(key);
    stop();
    throw new Error('too late to matter');
  });
  for (const key of ['a', 'b']) queue.add(key);
  queue.addAfter('c', 10);
  await queue.idle();
  queue.add('d');
  await vi.advanceTimersByTimeAsync(60_000);
  await queue.idle();
  expect([seen, reported]).toEqual([['a'], []]);
});

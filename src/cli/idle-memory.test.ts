import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { giveBackWhenIdle } from './idle-memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MIB = 1024 * 1024;

test('collects a few times when memory has grown and there is no work, and then not before it has grown again', () => {
  let memoryBytes = 100 * MIB;
  let utilization = 1;
  const collect = vi.fn<() => void>();
  const stop = giveBackWhenIdle({ intervalMs: 1_000, collect, memoryBytes: () => memoryBytes, utilization: () => utilization });
  vi.advanceTimersByTime(10_000);
  expect(collect).not.toHaveBeenCalled();
  utilization = 0;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(3);
  memoryBytes += 10 * MIB;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(3);
  memoryBytes += 10 * MIB;
  vi.advanceTimersByTime(1_000);
  utilization = 0.5;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(4);
  utilization = 0;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(6);
  stop();
  memoryBytes += 100 * MIB;
  vi.advanceTimersByTime(10_000);
  expect(collect).toHaveBeenCalledTimes(6);
});

test('collects for real', () => {
  const stop = giveBackWhenIdle({ intervalMs: 1_000, utilization: () => 0 });
  vi.advanceTimersByTime(5_000);
  stop();
  expect(process.memoryUsage.rss()).toBeGreaterThan(0);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { giveBackWhenIdle } from './idle-memory.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MIB = 1024 * 1024;

test('collects once when memory has grown and there has been no work, and then not before it has grown again', () => {
  let memoryBytes = 100 * MIB;
  let heapBytes = 40 * MIB;
  let utilization = 1;
  const generations: string[] = [];
  const collect = (generation: string): void => void generations.push(generation);
  const stop = giveBackWhenIdle({ intervalMs: 1_000, collect, memoryBytes: () => memoryBytes, heapBytes: () => heapBytes, utilization: () => utilization });
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual([]);
  utilization = 0;
  vi.advanceTimersByTime(1_000);
  expect(generations).toEqual(['minor']);
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major']);
  memoryBytes += 20 * MIB;
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major']);
  memoryBytes += 20 * MIB;
  utilization = 0.5;
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major']);
  utilization = 0;
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major', 'minor', 'major']);
  memoryBytes += 200 * MIB;
  heapBytes += 200 * MIB;
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major', 'minor', 'major']);
  heapBytes -= 200 * MIB;
  stop();
  vi.advanceTimersByTime(10_000);
  expect(generations).toEqual(['minor', 'major', 'minor', 'major']);
});

test('collects for real', () => {
  const stop = giveBackWhenIdle({ intervalMs: 1_000, utilization: () => 0 });
  vi.advanceTimersByTime(5_000);
  stop();
  expect(process.memoryUsage.rss()).toBeGreaterThan(0);
});

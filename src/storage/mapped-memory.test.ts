import { expect, test } from 'vitest';
import { mappedMemory, sliceOf } from './mapped-memory.ts';

const MIB = 1024 * 1024;

test('memory that is not written to costs nothing, and is like any other', () => {
  const beforeBytes = process.memoryUsage.rss();
  const memory = mappedMemory(256 * MIB);
  expect(process.memoryUsage.rss() - beforeBytes).toBeLessThan(128 * MIB);
  memory.write('früh', 200 * MIB);
  const view = sliceOf(memory.subarray(100 * MIB), 100 * MIB, 100 * MIB + 5);
  expect(memory.length).toBe(256 * MIB);
  expect(Buffer.isBuffer(view)).toBe(true);
  expect(view.toString()).toBe('früh');
  expect(Buffer.concat([view, view]).toString()).toBe('frühfrüh');
});

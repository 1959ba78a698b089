import { expect, test } from 'vitest';
import { passingMemory } from './passing-memory.ts';

test('gives each its own bytes, of shared pieces where they are small', () => {
  const given = Array.from({ length: 500 }, (_, i) => passingMemory(1 + ((i * 37) % 2_000)).fill(i % 256));
  for (const [i, memory] of given.entries()) {
    expect(memory.length).toBe(1 + ((i * 37) % 2_000));
    expect(memory.every((byte) => byte === i % 256)).toBe(true);
  }
  expect(new Set(given.map(({ buffer }) => buffer)).size).toBeLessThan(20);
  const large = passingMemory(100_000);
  expect(large.length).toBe(100_000);
  expect(large.buffer.byteLength).toBe(100_000);
});

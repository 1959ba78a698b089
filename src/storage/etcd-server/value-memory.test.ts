import { expect, test } from 'vitest';
import { ValueMemory } from './value-memory.ts';

test('values of any size are copied, apart from their message and from each other; small ones share pieces', () => {
  const memory = new ValueMemory();
  const pieces = new Set<ArrayBufferLike>();
  const copies = Array.from({ length: 200 }, (_, i) => {
    const message = Buffer.alloc(i === 100 ? 50_000 : i * 7, i);
    const copy = memory.copyOf(message);
    message.fill(255);
    pieces.add(copy.buffer);
    return copy;
  });
  for (const [i, copy] of copies.entries()) expect(copy.equals(Buffer.alloc(i === 100 ? 50_000 : i * 7, i))).toBe(true);
  expect(pieces.size).toBeLessThan(6);
});

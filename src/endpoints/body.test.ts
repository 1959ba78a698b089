import { describe, expect, test } from 'vitest';
import { CHUNK_BYTES, JsonListBody, type ListItems } from './body.ts';

const PREFIX = '{"kind":"K",';

/** Items of these lengths, each with a type to leave out. */
function itemsOf(lengths: readonly number[]): { items: ListItems; text: string } {
  const bytes = lengths.map((length, i) => Buffer.from(`${PREFIX}"v":"${String(i).padEnd(length, 'x')}"}`));
  const written = bytes.map((item) => `{${item.toString('utf8', PREFIX.length)}`);
  const sizeBytes = written.reduce((sum, item) => sum + item.length, 0);
  return { items: { count: bytes.length, sizeBytes, bytesAt: (i) => bytes[i]!, skipAt: () => PREFIX.length }, text: `[${written.join(',')}]` };
}

describe('a list', () => {
  test.each([
    ['is empty', []],
    ['fits into one piece', [10, 20, 30]],
    ['takes many pieces', Array.from({ length: 2000 }, (_, i) => 900 + (i % 7))],
    ['has items longer than a piece', [10, CHUNK_BYTES * 2, 10, CHUNK_BYTES + 1, 10]],
  ])('that %s comes out whole, in new memory or in the same', (_, lengths) => {
    const { items, text } = itemsOf(lengths);
    const body = new JsonListBody('[', items, ']');
    const copies: string[] = [];
    for (const piece of body.chunks('reuse-large')) copies.push(piece.toString());
    expect(copies.join('')).toBe(text);
    expect(Buffer.concat([...body.chunks()]).toString()).toBe(text);
    expect(body.sizeBytes).toBe(text.length);
  });

  test('never writes over a small piece, which a stream may still hold', () => {
    const { items, text } = itemsOf([10, CHUNK_BYTES * 2, 10, CHUNK_BYTES * 2]);
    const small: Buffer[] = [];
    const all: string[] = [];
    for (const piece of new JsonListBody('[', items, ']').chunks('reuse-large')) {
      if (piece.length < CHUNK_BYTES / 2) small.push(piece);
      all.push(piece.toString());
    }
    expect(small.map(String)).toEqual(all.filter((piece) => piece.length < CHUNK_BYTES / 2));
    expect(all.join('')).toBe(text);
  });
});

import { expect, test } from 'vitest';
import { writeParts } from './body.ts';

const SLICE_BYTES = 128 * 1024;

/** Takes small writes at once, and asks for a pause after others. Notes the length of each. */
class Sink {
  readonly lengths: number[] = [];
  #onDrained: (() => void) | undefined;

  write(bytes: Buffer): boolean {
    this.lengths.push(bytes.length);
    return bytes.length < 16 * 1024;
  }

  onceDrained(listener: () => void): void {
    this.#onDrained = listener;
  }

  /** False where nobody waits for it. */
  drain(): boolean {
    const listener = this.#onDrained;
    this.#onDrained = undefined;
    listener?.();
    return listener !== undefined;
  }
}

test('slice by slice, each after the one before was taken; small parts together', () => {
  const sink = new Sink();
  let isWritten = false;
  writeParts(sink, [Buffer.alloc(300_000), Buffer.alloc(5), Buffer.alloc(7)], () => (isWritten = true));
  expect(sink.lengths).toEqual([SLICE_BYTES]);
  expect([sink.drain(), sink.drain()]).toEqual([true, true]);
  expect(isWritten).toBe(false);
  expect(sink.drain()).toBe(true);
  expect(sink.lengths).toEqual([SLICE_BYTES, SLICE_BYTES, 300_000 - 2 * SLICE_BYTES, 12]);
  expect([isWritten, sink.drain()]).toEqual([true, false]);
});

test('the end of it is told with the last slice, not after it was taken', () => {
  const sink = new Sink();
  let isWritten = false;
  writeParts(sink, [Buffer.alloc(100_000)], () => (isWritten = true));
  expect([isWritten, sink.drain()]).toEqual([true, false]);
});

test('what was not taken yet is not written over', () => {
  const seen: Buffer[] = [];
  const sink = { write: (bytes: Buffer) => seen.push(bytes) > 0, onceDrained: () => {} };
  const parts = Array.from({ length: 20 }, (_, index) => Buffer.alloc(20_000, index));
  writeParts(sink, parts, () => {});
  expect(Buffer.concat(seen).equals(Buffer.concat(parts))).toBe(true);
});

import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { writeParts } from './body.ts';

/** Takes writes one at a time, and notes the length of each. */
function slowSink(): { sink: Writable; lengths: number[]; done: Promise<void> } {
  const lengths: number[] = [];
  let settle = (): void => {};
  const done = new Promise<void>((resolve) => (settle = resolve));
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, taken) {
      lengths.push(chunk.length);
      setImmediate(taken);
    },
    final(taken) {
      taken();
      settle();
    },
  });
  return { sink, lengths, done };
}

test('the end comes with the last slice, not after it was taken', async () => {
  const { sink, lengths, done } = slowSink();
  const end = vi.spyOn(sink, 'end');
  writeParts(sink, [Buffer.alloc(300_000), Buffer.alloc(5), Buffer.alloc(7)], true);
  await done;
  expect(lengths).toEqual([131072, 131072, 37856, 12]);
  expect(end).toHaveBeenCalledExactlyOnceWith(Buffer.alloc(12));
});

test('without the end, all is written and the sink stays open', async () => {
  const { sink, lengths } = slowSink();
  writeParts(sink, [Buffer.alloc(10)], false);
  await new Promise(setImmediate);
  expect(lengths).toEqual([10]);
  expect(sink.writableEnded).toBe(false);
});

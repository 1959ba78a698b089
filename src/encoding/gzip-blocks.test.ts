import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DeflatedBlock, gzipStream } from './gzip-blocks.ts';

async function* of(...parts: (Buffer | DeflatedBlock)[]): AsyncGenerator<Buffer | DeflatedBlock> {
  yield* parts;
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const block = new DeflatedBlock(Buffer.from('kept '.repeat(10_000)));
const odd = Buffer.from('ü\0odd');

test('blocks and plain bytes in any order are one gzip member whose checksum holds', async () => {
  const gzip = await collect(gzipStream(of(odd, block, Buffer.alloc(0), block, odd)));
  expect(gunzipSync(gzip).toString()).toBe(Buffer.concat([odd, block.inflate(), block.inflate(), odd]).toString());
  expect(gzip.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1)).toBe(-1);
  expect(gzip.length).toBeLessThan(block.length / 10);
});

test('nothing is a gzip stream, too', async () => {
  expect(gunzipSync(await collect(gzipStream(of())))).toHaveLength(0);
});

test('a block is what it was made of', () => {
  expect(block.inflate().toString()).toBe('kept '.repeat(10_000));
  expect(new DeflatedBlock(Buffer.alloc(0)).inflate()).toHaveLength(0);
});

import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { IncomingBody } from './incoming-body.ts';

function createBody(): { body: IncomingBody; released: () => number } {
  let releasedBytes = 0;
  return { body: new IncomingBody((sizeBytes) => (releasedBytes += sizeBytes)), released: () => releasedBytes };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Of sizes that are copied together, and of some that are not. */
const PIECES = Array.from({ length: 300 }, (_, index) => Buffer.alloc(index % 7 === 0 ? 5000 : (index * 13) % 900, LETTERS[index % 26]));

describe('one who wants all of it', () => {
  test('gets it in its order, whenever the pieces come', async () => {
    const { body, released } = createBody();
    for (const piece of PIECES.slice(0, 100)) body.push(Buffer.from(piece));
    expect(released()).toBe(0);
    const whole = body.read(1 << 22);
    for (const piece of PIECES.slice(100)) body.push(Buffer.from(piece));
    body.end();
    expect((await whole).equals(Buffer.concat(PIECES))).toBe(true);
    expect(released()).toBe(Buffer.concat(PIECES).length);
  });

  test('gets a single piece as it came', async () => {
    const { body } = createBody();
    const piece = Buffer.from('only');
    body.push(piece);
    body.end();
    expect(await body.read(10)).toBe(piece);
  });

  test('is told when it is too much, before and while it comes', async () => {
    const { body } = createBody();
    body.push(Buffer.alloc(11));
    await expect(body.read(10)).rejects.toThrow('limit is 10');
    const { body: other, released } = createBody();
    const whole = other.read(10);
    other.push(Buffer.alloc(10));
    other.push(Buffer.alloc(1));
    await expect(whole).rejects.toThrow('limit is 10');
    expect(released()).toBe(10);
  });

  test('is told when it breaks off, also when all had come and was not asked for: that is not an empty one', async () => {
    const { body } = createBody();
    const whole = body.read(10);
    body.breakOff();
    await expect(whole).rejects.toThrow('unexpected EOF');
    const { body: unread } = createBody();
    unread.push(Buffer.from('{"preconditions":{"uid":"x"}}'));
    unread.end();
    unread.breakOff();
    await expect(unread.read(100)).rejects.toThrow('unexpected EOF');
  });
});

test('a body that comes byte by byte takes about its size in memory', () => {
  const { body } = createBody();
  const chunk = Buffer.alloc(16_384, 'x');
  globalThis.gc?.();
  const before = process.memoryUsage();
  for (let index = 0; index < 1 << 20; index++) body.push(chunk.subarray(index % 16_384, (index % 16_384) + 1));
  globalThis.gc?.();
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(2 * (1 << 20));
  body.end();
});

describe('one who passes it on', () => {
  test('gets all in its order; the client waits while nobody reads', async () => {
    const { body, released } = createBody();
    for (const piece of PIECES.slice(0, 50)) body.push(piece);
    const stream = body.open();
    for (const piece of PIECES.slice(50)) body.push(piece);
    expect(released()).toBeLessThan(Buffer.concat(PIECES).length);
    body.end();
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'end');
    expect(Buffer.concat(chunks).equals(Buffer.concat(PIECES))).toBe(true);
  });

  test('sees its end where nothing came, and none where it breaks off', async () => {
    const { body } = createBody();
    const stream = body.open().resume();
    body.end();
    await once(stream, 'end');
    const { body: broken } = createBody();
    const cut = broken.open().resume();
    broken.push(Buffer.from('x'));
    broken.breakOff();
    await once(cut, 'close');
    expect(cut.readableEnded).toBe(false);
  });
});

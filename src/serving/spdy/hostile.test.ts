import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Random } from '../../util/test-random.ts';
import { socketPair } from '../test-sockets.ts';
import { SpdyConnection } from './connection.ts';
import { HEADER_DICTIONARY, HEADER_DICTIONARY_ID } from './dictionary.ts';
import { CONTROL, controlFrame, dataHeader } from './frames.ts';
import { SpdyHeaderReader, HeaderWriter } from './header-block.ts';

/* What a client that was let in to exec, attach or port-forward may send after that. */

const NONE = Buffer.alloc(0);
const START = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
START.writeUInt32BE(HEADER_DICTIONARY_ID, 2);
const compressed = (block: Buffer): Buffer => Buffer.concat([START, deflateRawSync(block, { dictionary: HEADER_DICTIONARY, finishFlush: 2 })]);
const counted = (...numbers: number[]): Buffer => Buffer.concat(numbers.map((number) => Buffer.from([number >>> 24, number >>> 16, number >>> 8, number])));

test.each<[string, Buffer]>([
  ['a megabyte of zeros in a kilobyte', compressed(Buffer.alloc(1024 * 1024))],
  ['four billion headers', compressed(counted(0xffffffff))],
  ['a thousand and one', compressed(Buffer.concat([counted(1001), Buffer.alloc(1001 * 8)]))],
  ['a name longer than the block', compressed(counted(1, 0xffffffff))],
  ['nothing', compressed(NONE)],
  ['three bytes', compressed(Buffer.alloc(3))],
  ['no zlib', Buffer.alloc(100)],
  ['another dictionary', Buffer.concat([Buffer.from([0x78, 0xbb, 1, 2, 3, 4]), deflateRawSync(counted(0))])],
])('a header block of %s is refused, and not built', (_, block) => {
  const before = process.memoryUsage().arrayBuffers;
  expect(() => new SpdyHeaderReader().read(block)).toThrow(Error);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
});

test('header names are data', () => {
  const headers = new SpdyHeaderReader().read(new HeaderWriter().write(JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>));
  expect(Object.entries(headers)).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

/** Sends until the other side has enough of it; what that held of replies. */
async function flood(next: (index: number) => Buffer): Promise<number> {
  const [client, socket] = await socketPair();
  const connection = new SpdyConnection(socket, NONE, { role: 'server' });
  const closed = new Promise<void>((resolve) => connection.onClose(resolve));
  let most = 0;
  client.on('error', () => {}).pause();
  const sending = (async () => {
    for (let index = 0; !client.destroyed && !socket.destroyed && index < 2000; index++) {
      if (!client.write(Buffer.concat(Array.from({ length: 500 }, (_, at) => next(index * 500 + at))))) await new Promise(setImmediate);
      most = Math.max(most, socket.writableLength);
      await new Promise(setImmediate);
    }
  })();
  await Promise.race([closed, sending]);
  client.destroy();
  await closed;
  return most;
}

test('pings whose answers are not read end the connection', async () => {
  expect(await flood((index) => controlFrame(CONTROL.PING, 0, 2 * index + 1))).toBeLessThan(2 * 1024 * 1024);
});

test('2,000 sequences of frames with lengths and bytes changed end the connection or nothing', async () => {
  const random = new Random(31);
  for (let batch = 0; batch < 40; batch++) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const [client, socket] = await socketPair();
        const connection = new SpdyConnection(socket, NONE, { role: 'server', onStream: (stream) => void stream.resume() });
        const closed = new Promise<void>((resolve) => connection.onClose(resolve));
        const writer = new HeaderWriter();
        const bytes = Buffer.concat([
          controlFrame(CONTROL.SYN_STREAM, 0, 1, 0, Buffer.alloc(2), writer.write({ streamtype: 'data' })),
          dataHeader(1, 0, 5),
          Buffer.from('hello'),
          controlFrame(CONTROL.HEADERS, 0, 1, writer.write({ a: 'b' })),
          controlFrame(CONTROL.WINDOW_UPDATE, 0, 1, 0),
          controlFrame(CONTROL.RST_STREAM, 0, random.below(4), 1),
        ]);
        for (let count = 1 + random.below(5); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
        client.on('error', () => {}).resume();
        client.end(random.chance(0.3) ? bytes.subarray(0, random.below(bytes.length)) : bytes);
        await closed;
        client.destroy();
      }),
    );
  }
});

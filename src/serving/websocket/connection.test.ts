import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { socketPair } from '../test-sockets.ts';
import { WebSocketByteStream } from './byte-stream.ts';
import { clientFrame, serverFrames } from './test-frames.ts';
import { WebSocketConnection } from './connection.ts';
import { CLOSE_CODE, WebSocketFrameReader, OPCODE, WebSocketError, frameHeader, unmask } from './frames.ts';

/** The server's side, and what the client sends and gets. */
async function connection(): Promise<{ server: WebSocketConnection; toServer: Socket; fromServer: Promise<Buffer> }> {
  const [toServer, socket] = await socketPair();
  const fromServer = buffer(toServer);
  fromServer.catch(() => {}); // not every test waits for it
  return { server: new WebSocketConnection(socket, Buffer.alloc(0), ''), toServer, fromServer };
}

function messagesOf(...chunks: Buffer[]): string[] {
  const messages: string[] = [];
  let current = '';
  const reader = new WebSocketFrameReader({
    data(bytes, isStart, isEnd) {
      current = (isStart ? '' : current) + bytes.toString();
      if (isEnd) messages.push(current);
    },
    control: (opcode, payload) => void messages.push(`${opcode}:${payload.toString()}`),
  });
  for (const chunk of chunks) reader.feed(chunk);
  return messages;
}

const text = (value: string): Buffer => Buffer.from(value);

test('messages come whole, however they are cut', () => {
  const long = 'y'.repeat(70_000);
  const all = Buffer.concat([
    clientFrame(OPCODE.BINARY, text('one')),
    clientFrame(OPCODE.TEXT, text('')),
    clientFrame(OPCODE.BINARY, text('first '), false),
    clientFrame(OPCODE.PING, text('?')),
    clientFrame(OPCODE.CONTINUATION, text('second')),
    clientFrame(OPCODE.BINARY, text('x'.repeat(300))),
    clientFrame(OPCODE.BINARY, text(long)),
  ]);
  const expected = ['one', '', '9:?', 'first second', 'x'.repeat(300), long];
  expect(messagesOf(Buffer.from(all))).toEqual(expected);
  for (const size of [1, 2, 3, 7, 1000]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) chunks.push(Buffer.from(all.subarray(at, at + size)));
    expect(messagesOf(...chunks)).toEqual(expected);
  }
});

test('a mask is taken off wherever the bytes lie', () => {
  const mask = Buffer.from([1, 2, 3, 4]);
  for (let offset = 0; offset < 8; offset++)
    for (let length = 0; length < 12; length++)
      for (let maskAt = 0; maskAt < 4; maskAt++) {
        const bytes = Buffer.alloc(32).subarray(offset, offset + length);
        unmask(bytes, mask, maskAt);
        expect([...bytes]).toEqual(Array.from({ length }, (_, index) => mask[(index + maskAt) & 3]));
      }
});

test('frames of all sizes have their length', () => {
  for (const size of [0, 125, 126, 65_535, 65_536, 5_000_000])
    expect(serverFrames(Buffer.concat([frameHeader(2, size), Buffer.alloc(size)]))[0]!.payload).toHaveLength(size);
});

test('who breaks the rules is told so, and the connection ends', async () => {
  const bad: [Buffer, number][] = [
    [Buffer.from([0x82, 0x01, 0x00]), CLOSE_CODE.PROTOCOL_ERROR], // not masked
    [Buffer.from([0xc2, 0x80, 0, 0, 0, 0]), CLOSE_CODE.PROTOCOL_ERROR], // an extension
    [clientFrame(0x3, text('')), CLOSE_CODE.PROTOCOL_ERROR],
    [clientFrame(0xb, text('')), CLOSE_CODE.PROTOCOL_ERROR],
    [clientFrame(OPCODE.CONTINUATION, text('a')), CLOSE_CODE.PROTOCOL_ERROR],
    [Buffer.concat([clientFrame(OPCODE.TEXT, text('a'), false), clientFrame(OPCODE.TEXT, text('b'))]), CLOSE_CODE.PROTOCOL_ERROR],
    [clientFrame(OPCODE.PING, text('p'), false), CLOSE_CODE.PROTOCOL_ERROR],
    [clientFrame(OPCODE.PING, Buffer.alloc(126)), CLOSE_CODE.PROTOCOL_ERROR],
    [Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), CLOSE_CODE.TOO_BIG],
  ];
  for (const [bytes, code] of bad) {
    const { server, toServer, fromServer } = await connection();
    server.listen();
    toServer.write(bytes);
    expect(serverFrames(await fromServer)).toEqual([{ opcode: OPCODE.CLOSE, payload: Buffer.from([code >> 8, code & 0xff]) }]);
    expect(server.isClosed).toBe(true);
  }
});

test('pings are answered, closes echoed', async () => {
  const { server, toServer, fromServer } = await connection();
  const closed = vi.fn<() => void>();
  server.onClose(closed);
  server.listen();
  toServer.write(clientFrame(OPCODE.PING, text('here?')));
  toServer.write(clientFrame(OPCODE.CLOSE, Buffer.from([3, 232])));
  expect(serverFrames(await fromServer).map(({ opcode, payload }) => [opcode, payload.toString('latin1')])).toEqual([
    [OPCODE.PONG, 'here?'],
    [OPCODE.CLOSE, '\u0003è'],
  ]);
  expect(closed).toHaveBeenCalledOnce();
});

test('what follows a close frame is not read', async () => {
  const { server, toServer, fromServer } = await connection();
  const onData = vi.fn<(bytes: Buffer) => void>();
  server.listen(onData);
  toServer.write(
    Buffer.concat([clientFrame(OPCODE.CLOSE, Buffer.from([3, 232])), clientFrame(OPCODE.BINARY, text('late')), clientFrame(OPCODE.PING, text('late'))]),
  );
  expect(serverFrames(await fromServer).map(({ opcode }) => opcode)).toEqual([OPCODE.CLOSE]);
  expect(onData).not.toHaveBeenCalled();
});

test('channels are the first byte of a message', async () => {
  const { server, toServer, fromServer } = await connection();
  server.listen();
  server.sendTo(1, text('small'));
  server.sendTo(2, Buffer.alloc(10_000, 'b'));
  toServer.end();
  const [small, large] = serverFrames(await fromServer);
  expect(small!.payload.toString('latin1')).toBe('\u0001small');
  expect([large!.payload[0], large!.payload.length]).toEqual([2, 10_001]);
});

test('a quiet connection ends after its time', async () => {
  const { server } = await connection();
  vi.useFakeTimers();
  server.listen();
  server.setIdleTimeout(1000);
  vi.advanceTimersByTime(900);
  server.send(text('still here'));
  vi.advanceTimersByTime(900);
  expect(server.isClosed).toBe(false);
  vi.advanceTimersByTime(200);
  expect(server.isClosed).toBe(true);
  vi.useRealTimers();
});

test('a client that is not read is pinged, so that its end is noticed', async () => {
  const { server, toServer, fromServer } = await connection();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server.listen();
  server.pause();
  vi.advanceTimersByTime(5000);
  server.resume();
  vi.advanceTimersByTime(60_000);
  server.close();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  expect(serverFrames(await fromServer).map(({ opcode }) => opcode)).toEqual([OPCODE.PING, OPCODE.CLOSE]);
  toServer.destroy();
});

test('as a stream of bytes it carries them both ways, and ends with the other side', async () => {
  const { server, toServer, fromServer } = await connection();
  const stream = new WebSocketByteStream(server);
  const read = buffer(stream);
  toServer.write(clientFrame(OPCODE.BINARY, text('one ')));
  toServer.write(clientFrame(OPCODE.BINARY, text('two')));
  stream.write('three');
  toServer.write(clientFrame(OPCODE.CLOSE, Buffer.alloc(0)));
  expect((await read).toString()).toBe('one two');
  expect(serverFrames(await fromServer).map(({ payload }) => payload.toString('latin1'))).toEqual(['three', '\u0003è']);
});

test('a stream of bytes takes no text', async () => {
  const { server, toServer, fromServer } = await connection();
  new WebSocketByteStream(server).resume();
  toServer.write(clientFrame(OPCODE.TEXT, text('words')));
  expect(serverFrames(await fromServer)[0]!.payload.readUInt16BE(0)).toBe(CLOSE_CODE.UNSUPPORTED_DATA);
});

test('made-up bytes are refused or read, and never more than that', () => {
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
    if (bytes.length > 1 && round % 2 === 0) [bytes[0], bytes[1]] = [0x80 | (bytes[0]! & 0x0f), 0x80 | bytes[1]!];
    try {
      messagesOf(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(WebSocketError);
    }
  }
});

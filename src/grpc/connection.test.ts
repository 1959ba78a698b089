import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { GrpcChannel } from './channel.ts';
import { FrameFlag, type Frame, Http2FrameReader, FrameType, PREFACE, frame, numberFrame, settingsFrame } from '../http2/frames.ts';
import { encodeHeaders } from '../http2/hpack.ts';
import { framed } from './message-assembler.ts';
import { GrpcCode, type GrpcError } from './status.ts';

/* What no well-behaved server of Node's sends: frames written by hand. */

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

type Answer = (frame: Frame, socket: Socket) => void;

async function listening(server: Server): Promise<GrpcChannel> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const channel = new GrpcChannel({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  closers.push(
    () => server.close(),
    () => channel.close(),
  );
  return channel;
}

/** A server that says what it is told to, frame by frame. */
function scripted(answer: Answer): Promise<GrpcChannel> {
  const server = createServer((socket) => {
    const reader = new Http2FrameReader();
    let skipped = 0;
    socket.on('error', () => undefined);
    socket.write(settingsFrame([]));
    socket.on('data', (piece: Buffer) => {
      const rest = piece.subarray(Math.min(PREFACE.length - skipped, piece.length));
      skipped += piece.length - rest.length;
      reader.add(rest);
      for (let received = reader.next(); received; received = reader.next()) answer(received, socket);
    });
    closers.push(() => socket.destroy());
  });
  return listening(server);
}

const isRequest = ({ type, flags }: Frame): boolean => type === FrameType.data && (flags & FrameFlag.endStream) !== 0;
const OK_HEADERS = encodeHeaders({ ':status': '200', 'content-type': 'application/grpc' });
const OK_TRAILERS = encodeHeaders({ 'grpc-status': '0' });
const call = (channel: GrpcChannel): Promise<string | GrpcError> =>
  channel.unary('/s/M', Buffer.from('question')).then(
    (answer) => answer.toString(),
    (error: GrpcError) => error,
  );

describe('frames', () => {
  test('padding, priority and continuations are taken apart, however the bytes arrive', async () => {
    const channel = await scripted((received, socket) => {
      if (!isRequest(received)) return;
      const { streamId } = received;
      const padded = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([3]), bytes, Buffer.alloc(3)]);
      const prioritized = Buffer.concat([Buffer.from([2]), Buffer.alloc(5), OK_HEADERS.subarray(0, 4), Buffer.alloc(2)]);
      const message = framed(Buffer.from('answer'));
      const bytes = Buffer.concat([
        frame(FrameType.headers, FrameFlag.padded | FrameFlag.priority, streamId, prioritized),
        frame(FrameType.continuation, 0, streamId, OK_HEADERS.subarray(4, 9)),
        frame(FrameType.continuation, FrameFlag.endHeaders, streamId, OK_HEADERS.subarray(9)),
        frame(FrameType.data, FrameFlag.padded, streamId, padded(message.subarray(0, 7))),
        frame(0xee, 0xff, streamId, Buffer.from('of no known kind')),
        frame(FrameType.data, 0, streamId, message.subarray(7)),
        frame(FrameType.headers, FrameFlag.endHeaders | FrameFlag.endStream, streamId, OK_TRAILERS),
      ]);
      for (const byte of bytes) socket.write(Buffer.from([byte]));
    });
    expect(await call(channel)).toBe('answer');
  });

  test('a refused stream was not looked at; nor was one beyond the last that a GOAWAY names', async () => {
    const refusing = await scripted((received, socket) => {
      if (isRequest(received)) socket.write(numberFrame(FrameType.rstStream, received.streamId, 7));
    });
    expect(await call(refusing)).toMatchObject({ code: GrpcCode.unavailable, wasNotSent: true });
    const leaving = await scripted((received, socket) => {
      if (isRequest(received)) socket.write(frame(FrameType.goaway, 0, 0, Buffer.alloc(8)));
    });
    expect(await call(leaving)).toMatchObject({ code: GrpcCode.unavailable, wasNotSent: true });
  });

  test('what is against the rules ends the connection', async () => {
    const wrongs: ((streamId: number) => Buffer)[] = [
      (id) => frame(FrameType.pushPromise, 0, id, Buffer.alloc(4)),
      (id) => frame(FrameType.continuation, FrameFlag.endHeaders, id, OK_HEADERS),
      (id) => frame(FrameType.data, FrameFlag.padded, id, Buffer.from([9, 1])),
      (id) => frame(FrameType.headers, FrameFlag.endHeaders, id, Buffer.from([0xbe])),
      () => numberFrame(FrameType.windowUpdate, 0, 2 ** 31 - 1),
      (id) => Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0, 0]), numberFrame(0, id, 0)]),
    ];
    for (const wrong of wrongs) {
      const channel = await scripted((received, socket) => {
        if (isRequest(received)) socket.write(wrong(received.streamId));
      });
      expect(await call(channel)).toMatchObject({ code: GrpcCode.unavailable, details: expect.stringMatching(/^protocol error: /) });
    }
  });

  test('a small window is respected, until it is widened', async () => {
    const sizes: number[] = [];
    const channel = await scripted((received, socket) => {
      const { type, streamId, payload } = received;
      if (type === FrameType.settings && !(received.flags & FrameFlag.ack)) socket.write(settingsFrame([[4, 5]]));
      if (type !== FrameType.data) return;
      sizes.push(payload.length);
      if (isRequest(received)) {
        socket.write(frame(FrameType.headers, FrameFlag.endHeaders | FrameFlag.endStream, streamId, encodeHeaders({ ':status': '200', 'grpc-status': '5' })));
      } else socket.write(numberFrame(FrameType.windowUpdate, streamId, 5));
    });
    // The first call may be sent before the settings are known.
    await call(channel);
    sizes.length = 0;
    expect(await call(channel)).toMatchObject({ code: 5 });
    expect(sizes).toEqual([5, 5, 3]);
  });
});

test('no more calls are begun at once than the server allows', async () => {
  let open = 0;
  let most = 0;
  const server = createHttp2Server({ settings: { maxConcurrentStreams: 2 } });
  server.on('stream', (stream) => {
    most = Math.max(most, ++open);
    stream.on('close', () => open--).on('error', () => undefined);
    stream.resume().on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'x'.repeat(30_000) }));
      stream.end(framed(Buffer.from('answer')));
    });
  });
  const channel = await listening(server as unknown as Server);
  await call(channel);
  expect(await Promise.all(Array.from({ length: 20 }, () => call(channel)))).toEqual(Array.from({ length: 20 }, () => 'answer'));
  expect(most).toBe(2);
});

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { afterEach, describe, expect, test } from 'vitest';
import { Random } from '../util/test-random.ts';
import { FrameFlag, FrameType, Setting, frame, settingsFrame } from './frames.ts';
import { BlockWriter, HeaderReader } from './hpack.ts';
import { TestPeer, TestServer, data, get, post, widen } from './test-peer.ts';

/* Windows of streams and connections, at the server's end (RFC 9113 §5.2, §6.9). */

let server: TestServer;
afterEach(async () => {
  await server.close();
  expect(server.clock.openTimers).toBe(0);
});

const MIB = 1024 * 1024;
const WIDE = [[Setting.initialWindowSize, 2 ** 30]] as const;
/** In pieces whose sizes have nothing to do with those of frames. */
function noise(sizeBytes: number): Buffer {
  const random = new Random(7);
  const bytes = Buffer.allocUnsafe(sizeBytes);
  for (let at = 0; at + 4 <= sizeBytes; at += 4) bytes.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at);
  return bytes;
}
const checksum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const isData = (streamId: number) => (one: { type: number; streamId: number }) => one.type === FrameType.data && one.streamId === streamId;

describe('what we send', () => {
  test('keeps to a window of one byte', async () => {
    server = await TestServer.start((request) => request.answer('hello'));
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 1]]).send(get(1));
    for (let count = 1; count < 5; count++) {
      await peer.until(() => peer.bodyOf(1).length === count);
      expect(peer.hasEnded(1)).toBe(false);
      peer.send(widen(1, 1));
    }
    await peer.until(() => peer.hasEnded(1));
    expect(peer.frames.filter(isData(1)).map(({ payload, flags }) => [payload.toString(), flags])).toEqual([
      ['h', 0],
      ['e', 0],
      ['l', 0],
      ['l', 0],
      ['o', FrameFlag.endStream],
    ]);
    peer.socket.destroy();
  });

  test('waits for a window that has become negative to be one again, and ends an empty body without any', async () => {
    server = await TestServer.start((request) => {
      if (request.head.target === '/') return request.answer(Buffer.alloc(100));
      request.start();
      request.connection.end(request.stream, undefined);
    });
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 40]]).send(get(1));
    await peer.until(() => peer.bodyOf(1).length === 40);
    peer.send(settingsFrame([[Setting.initialWindowSize, 10]]), widen(1, 30), get(3, '/empty'));
    await peer.until(() => peer.hasEnded(3));
    expect(peer.bodyOf(1).length).toBe(40);
    peer.send(widen(1, 1));
    await peer.until(() => peer.bodyOf(1).length === 41);
    peer.send(settingsFrame([[Setting.initialWindowSize, 1000]]));
    await peer.until(() => peer.hasEnded(1));
    expect(peer.bodyOf(1).length).toBe(100);
    peer.socket.destroy();
  });

  test('keeps to the window of the connection, and shares it out in turns', async () => {
    server = await TestServer.start((request) => request.answer(Buffer.alloc(MIB)));
    const peer = TestPeer.greet(server.port, WIDE).send(get(1), get(3), get(5));
    const received = (): number => [1, 3, 5].reduce((sum, id) => sum + peer.bodyOf(id).length, 0);
    await peer.until(() => received() === 65_535);
    peer.send(widen(0, MIB));
    await peer.until(() => received() === 65_535 + MIB);
    for (const id of [3, 5]) expect(peer.bodyOf(id).length).toBeGreaterThan(MIB / 8);
    peer.send(widen(0, 2 * MIB));
    await peer.until(() => [1, 3, 5].every((id) => peer.hasEnded(id)));
    expect(received()).toBe(3 * MIB);
    peer.socket.destroy();
  });

  test('a small answer is not kept behind large ones', async () => {
    server = await TestServer.start((request) => request.answer(request.head.target === '/large' ? Buffer.alloc(16 * MIB) : 'small'));
    const peer = TestPeer.greet(server.port, WIDE).send(widen(0, 2 ** 30), get(1, '/large'), get(3, '/large'));
    await peer.until(() => peer.bodyOf(1).length > 0);
    peer.send(get(5));
    await peer.until(() => peer.hasEnded(5));
    expect([peer.hasEnded(1), peer.hasEnded(3)]).toEqual([false, false]);
    await peer.until(() => peer.hasEnded(1) && peer.hasEnded(3));
    peer.socket.destroy();
  });

  test('whoever waits for room is told once, also when more was sent in the meantime', async () => {
    server = await TestServer.start((request) => {
      request.start();
      const { connection, stream } = request;
      expect(connection.send(stream, Buffer.alloc(100), false)).toBe(false);
      expect(connection.send(stream, Buffer.alloc(100), false)).toBe(false);
    });
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 10]]).send(get(1));
    await peer.until(() => peer.bodyOf(1).length === 10);
    const [request] = server.requests;
    expect([request!.drains, request!.connection.bufferedBytes(request!.stream)]).toEqual([0, 190]);
    peer.send(widen(1, 1000));
    while (request!.connection.bufferedBytes(request!.stream) > 0 || request!.drains === 0) await new Promise(setImmediate);
    expect(request!.connection.send(request!.stream, Buffer.alloc(100), false)).toBe(true);
    await peer.reaction();
    expect(request!.drains).toBe(1);
    peer.socket.destroy();
  });

  test('trailers follow the last byte', async () => {
    server = await TestServer.start((request) => {
      request.start({ trailer: 'x' });
      request.connection.send(request.stream, Buffer.from('body'), false);
      const writer = new BlockWriter();
      writer.add('x', 'y');
      request.connection.end(request.stream, writer);
    });
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 3]]).send(get(1));
    await peer.until(() => peer.bodyOf(1).length === 3);
    expect(peer.hasEnded(1)).toBe(false);
    peer.send(widen(1, 3));
    await peer.until(() => peer.hasEnded(1));
    const last = peer.frames.at(-1)!;
    expect(new HeaderReader({ tableBytes: 0, listBytes: 1000, fieldCount: 10 }).read(last.payload)).toEqual(['x', 'y']);
    peer.socket.destroy();
  });
});

describe('what we receive', () => {
  test('more than a stream’s window is an error of the stream', async () => {
    server = await TestServer.start(() => {}, { streamWindowBytes: 1000 });
    const peer = TestPeer.greet(server.port).send(post(1), data(1, Buffer.alloc(1001)));
    expect(await peer.reaction()).toEqual(['reset 1 flowControlError']);
    peer.socket.destroy();
  });

  test('padding counts, and is given back', async () => {
    server = await TestServer.start(undefined, { streamWindowBytes: 1000 });
    const peer = TestPeer.greet(server.port).send(post(1));
    for (let count = 0; count < 20; count++) {
      peer.send(frame(FrameType.data, FrameFlag.padded, 1, Buffer.concat([Buffer.from([200, 120]), Buffer.alloc(200)])));
      await peer.reaction();
    }
    peer.send(data(1, '', true));
    await peer.until(() => peer.hasEnded(1));
    expect(peer.bodyOf(1).toString()).toBe('x'.repeat(20));
    peer.socket.destroy();
  });
});

test('64 MiB each way arrive as they were, with a real client', { timeout: 60_000 }, async () => {
  server = await TestServer.start((request) => {
    const hash = createHash('sha256');
    request.stream.events.onData = (piece) => {
      hash.update(piece);
      request.connection.release(request.stream, piece.length);
    };
    request.onWhole = () => (request.head.method === 'GET' ? request.answer(body) : request.answer(hash.digest('hex')));
    if (request.head.method === 'GET') request.answer(body);
  });
  const body = noise(64 * MIB);
  const session = connect(`http://127.0.0.1:${server.port}`, { maxSessionMemory: 256, settings: { headerTableSize: 0, initialWindowSize: 100_000 } });
  const read = async (stream: ClientHttp2Stream): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'end');
    return Buffer.concat(chunks);
  };
  const upload = session.request({ ':method': 'POST', ':path': '/' });
  upload.end(body);
  const [down, up] = await Promise.all([read(session.request({ ':path': '/' })), read(upload)]);
  expect(checksum(down)).toBe(checksum(body));
  expect(up.toString()).toBe(checksum(body));
  session.destroy();
});

describe('a connection that is held back', () => {
  test('is listened to again, in order, when it may be; others go on meanwhile', async () => {
    server = await TestServer.start((request) => {
      if (request.head.target === '/crowd') expect([request.connection.pauseReading(), request.connection.pauseReading()]).toEqual([true, false]);
      request.answer(request.head.target);
    });
    const peer = TestPeer.greet(server.port).send(get(1, '/crowd'), get(3, '/a'), get(5, '/b'));
    await peer.until(() => peer.hasEnded(1));
    peer.send(get(7, '/c'));
    const other = TestPeer.greet(server.port).send(get(1, '/other'));
    await other.until(() => other.hasEnded(1));
    expect(server.requests.map(({ head }) => head.target)).toEqual(['/crowd', '/other']);
    server.requests[0]!.connection.resumeReading();
    await peer.until(() => peer.hasEnded(7));
    expect(server.requests.map(({ head }) => head.target)).toEqual(['/crowd', '/other', '/a', '/b', '/c']);
    other.socket.destroy();
    peer.socket.destroy();
  });

  test('may be held back again by what it was held back from', async () => {
    server = await TestServer.start((request) => {
      request.connection.pauseReading();
      request.answer('ok');
      setImmediate(() => request.connection.resumeReading());
    });
    const ids = Array.from({ length: 50 }, (_, index) => index * 2 + 1);
    const peer = TestPeer.greet(server.port).send(...ids.map((id) => get(id)));
    await peer.until(() => ids.every((id) => peer.hasEnded(id)));
    expect(server.requests.length).toBe(50);
    peer.socket.destroy();
  });

  test('loses nothing of what came meanwhile, more than it takes in at once', async () => {
    server = await TestServer.start((request) => {
      request.onWhole = () => request.answer(checksum(request.body));
      request.connection.pauseReading();
    });
    const body = noise(256 * 1024);
    const chunks = Array.from({ length: 16 }, (_, index) => data(1, body.subarray(index * 16_384, (index + 1) * 16_384), index === 15));
    const peer = TestPeer.greet(server.port).send(post(1));
    while (server.requests.length === 0) await new Promise(setImmediate);
    await new Promise<unknown>((resolve) => peer.socket.write(Buffer.concat(chunks), resolve));
    expect(server.requests[0]!.chunks).toEqual([]);
    server.requests[0]!.connection.resumeReading();
    await peer.until(() => peer.hasEnded(1));
    expect(peer.bodyOf(1).toString()).toBe(checksum(body));
    peer.socket.destroy();
  });

  test('leaves nothing behind when it is closed', async () => {
    server = await TestServer.start((request) => void request.connection.pauseReading());
    const peer = TestPeer.greet(server.port).send(get(1), get(3));
    while (server.requests.length === 0) await new Promise(setImmediate);
    await server.close();
    await peer.closed;
    expect(server.requests.map(({ isOver }) => isOver)).toEqual([true]);
    server.requests[0]!.connection.resumeReading();
    expect(server.requests.length).toBe(1);
  });
});

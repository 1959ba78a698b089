import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Random } from '../util/test-random.ts';
import { FrameFlag, FrameType, PREFACE, Setting, frame, settingsFrame } from './frames.ts';
import { BlockWriter } from './hpack.ts';
import { ServerConnection } from './server-connection.ts';
import { CountingClock, TestPeer, TestRequest, TestServer, blockOf, data, get, goaway, headers, post, requestBlock, reset, widen } from './test-peer.ts';

/* What clients do that want to keep a server busy. Each is cut off, or costs no more than it sends. */

let server: TestServer;
afterEach(async () => {
  await server.close();
  expect(server.clock.openTimers).toBe(0);
  expect(server.requests.every(({ isOver }) => isOver)).toBe(true);
});

const NOTHING = Buffer.alloc(0);
const MIB = 1024 * 1024;
const hold = (): void => {};
const odd = (index: number): number => 2 * index + 1;

/** Each makes the next frames of a flood; `index` counts from 0. */
const FLOODS: Record<string, (index: number) => Buffer> = {
  'requests taken back (CVE-2023-44487)': (index) => Buffer.concat([get(odd(index)), reset(odd(index))]),
  'windows that are not widened (CVE-2025-8671)': (index) => Buffer.concat([get(odd(index)), widen(odd(index), 0)]),
  'windows beyond all (CVE-2025-8671)': (index) => Buffer.concat([get(odd(index)), widen(odd(index), 2 ** 31 - 1)]),
  'data behind the end (CVE-2025-8671)': (index) => Buffer.concat([get(odd(index)), data(odd(index), 'x')]),
  'headers behind the end (CVE-2025-8671)': (index) => Buffer.concat([get(odd(index)), headers(odd(index), NOTHING)]),
  'bad trailers (CVE-2025-8671)': (index) => Buffer.concat([post(odd(index)), headers(odd(index), blockOf([[':path', '/']]))]),
  'more body than was announced (CVE-2025-8671)': (index) => Buffer.concat([post(odd(index), '/', [['content-length', '1']]), data(odd(index), 'xy')]),
  'requests that are none (CVE-2025-8671)': (index) => headers(odd(index), NOTHING),
  'pings (CVE-2019-9512)': () => frame(FrameType.ping, 0, 0, Buffer.alloc(8)),
  'settings (CVE-2019-9515)': () => settingsFrame([]),
  'priorities (CVE-2019-9513)': (index) => frame(FrameType.priority, 0, odd(index), Buffer.alloc(5)),
  'frames of no kind': (index) => frame(0x20 + (index % 100), 0, 0, NOTHING),
  'empty data (CVE-2019-9518)': (index) => (index === 0 ? post(1) : data(1, NOTHING)),
  'data of padding alone (CVE-2019-9518)': (index) => (index === 0 ? post(1) : frame(FrameType.data, FrameFlag.padded, 1, Buffer.alloc(1))),
  'empty data of a stream that we have ended': (index) => (index === 0 ? headers(1, NOTHING, FrameFlag.endHeaders) : data(1, NOTHING)),
};

test.each(Object.entries(FLOODS))('%s', async (_, next) => {
  let seen = 0;
  server = await TestServer.start(() => void seen++, { unansweredResetsPerSecond: 40, resetsPerSecond: 100, controlFramesPerSecond: 50 });
  const [good, bad] = [TestPeer.greet(server.port), TestPeer.greet(server.port)];
  await good.reaction();
  bad.send(...Array.from({ length: 2000 }, (_unused, index) => next(index)));
  await bad.closed;
  expect(server.problems).toEqual([expect.stringMatching(/^abuse: too many (streams reset|control frames)$/)]);
  expect(seen).toBeLessThan(100);
  expect(await good.reaction()).toEqual([]);
  good.socket.destroy();
});

describe('header blocks', () => {
  const goOn = (payload: Buffer, isLast = false): Buffer => frame(FrameType.continuation, isLast ? FrameFlag.endHeaders : 0, 1, payload);

  test.each([
    ['of parts without end (CVE-2024-27316)', Buffer.alloc(1000, 0x82)],
    ['of empty parts without end', NOTHING],
    ['of tiny parts without end', Buffer.from([0x82])],
  ])('%s', async (_, part) => {
    server = await TestServer.start(hold);
    const peer = TestPeer.greet(server.port).send(headers(1, NOTHING, FrameFlag.endStream), ...Array.from({ length: 2000 }, () => goOn(part)));
    await peer.closed;
    expect(server.problems).toEqual(['headers are too large']);
  });

  test('that stand for a thousand times their size are answered as too large, and are not built', async () => {
    server = await TestServer.start(hold, { headerBytes: 64 * 1024 });
    // One field of 4,000 bytes that is remembered, and 60,000 references to it: 240 MB.
    const field = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'y')]);
    const peer = TestPeer.greet(server.port).send(headers(1, Buffer.concat([requestBlock('/'), field]), FrameFlag.endStream));
    for (let count = 0; count < 3; count++) peer.send(goOn(Buffer.alloc(16_384, 0xbe), count === 2));
    expect(await peer.reaction()).toEqual(['answer 1', 'data 1 end']);
    expect(server.requests).toEqual([]);
    peer.socket.destroy();
  });

  test('that change the table with every field are read, and the table stays what it may be', async () => {
    server = await TestServer.start((request) => request.answer('ok'));
    const peer = TestPeer.greet(server.port);
    for (let id = 1; id < 100; id += 2) {
      const churn = Buffer.concat(Array.from({ length: 190 }, (_, index) => Buffer.from([0x40, 1, 0x61 + (index % 26), 1, 0x61])));
      peer.send(headers(id, Buffer.concat([requestBlock('/'), churn])));
      expect((await peer.reaction()).slice(-1)).toEqual([`data ${id} end`]);
    }
    expect(server.problems).toEqual([]);
    peer.socket.destroy();
  });
});

describe('a client that does not read', () => {
  const big = Buffer.alloc(MIB);
  const greetWide = (): TestPeer => TestPeer.greet(server.port, [[Setting.initialWindowSize, 2 ** 30]]).send(widen(0, 2 ** 30));

  test('has at most 16 MiB of bodies waiting; others are served', async () => {
    server = await TestServer.start((request) => request.answer(request.head.target === '/' ? 'ok' : big), { unsentBytesPerConnection: 16 * MIB });
    const [good, bad] = [TestPeer.greet(server.port), greetWide()];
    await bad.reaction();
    bad.socket.pause();
    bad.send(...Array.from({ length: 100 }, (_, index) => get(odd(index), '/big')));
    while (server.requests.length < 17) await new Promise(setImmediate);
    expect(await good.send(get(1)).reaction()).toEqual(['answer 1', 'data 1 end']);
    expect(server.requests.length).toBeLessThanOrEqual(1 + 25);
    bad.socket.resume();
    await bad.until(() => bad.frames.some(({ type, streamId }) => type === FrameType.rstStream && streamId === 199));
    const answered = server.requests.length - 1;
    expect(bad.frames.filter(({ type }) => type === FrameType.rstStream)).toHaveLength(100 - answered);
    await bad.until(() => server.requests.every(({ isOver }) => isOver));
    for (const peer of [good, bad]) peer.socket.destroy();
  });

  test('and goes on asking for what has no body is cut off', async () => {
    const answerHead = (request: TestRequest): void => request.start({ x: 'y'.repeat(8000) }, true);
    server = await TestServer.start(answerHead, {}, false);
    const bad = greetWide();
    await bad.reaction();
    bad.socket.pause();
    for (let index = 0; server.problems.length === 0 && index < 20_000; index++) {
      bad.send(get(odd(index)));
      if (index % 100 === 99) await new Promise(setImmediate);
    }
    expect(server.problems).toEqual(['abuse: too many answers that nobody reads']);
    bad.socket.destroy();
  });

  test('and opens its windows byte by byte gets what it asks for', async () => {
    server = await TestServer.start((request) => request.answer(big));
    const peer = TestPeer.greet(server.port, [[Setting.initialWindowSize, 0]]).send(...Array.from({ length: 20 }, (_, index) => get(odd(index))));
    await peer.reaction();
    for (let count = 0; count < 1000; count++) peer.send(...Array.from({ length: 20 }, (_, index) => widen(odd(index), 1)));
    const receivedBytes = (): number => Array.from({ length: 20 }, (_, index) => peer.bodyOf(odd(index)).length).reduce((a, b) => a + b);
    await peer.until(() => receivedBytes() === 20_000);
    expect(server.problems).toEqual([]);
    peer.socket.destroy();
  });

  test('and closes its half is let go', async () => {
    server = await TestServer.start(hold);
    const peer = TestPeer.greet(server.port).send(get(1));
    await peer.reaction();
    peer.socket.end();
    await peer.closed;
    await server.untilGone();
  });
});

/* Fuzz: what a seed decides is sent to connections on sockets of memory. */

class MemorySocket extends Duplex {
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    setImmediate(done);
  }
}

/** Answers in one of the ways in which handlers do. */
function answerSomehow(request: TestRequest, random: Random): void {
  const { connection, stream } = request;
  const way = random.below(7);
  if (way === 0) request.answer('ok');
  if (way === 1) request.start({}, true);
  if (way === 2) request.onWhole = () => request.answer(request.body);
  if (way === 3) setImmediate(() => request.answer(Buffer.alloc(random.below(300_000))));
  if (way === 4) {
    request.start();
    connection.send(stream, Buffer.alloc(random.below(100_000)), random.chance(0.5));
  }
  if (way === 5) {
    request.start();
    setImmediate(() => connection.end(stream, random.chance(0.5) ? new BlockWriter() : undefined));
  }
  if (way === 6) connection.cut(stream);
}

/** Mostly of streams that are there, or begin. */
function someFrame(random: Random, opened: { lastId: number }): Buffer {
  const id = random.chance(0.95) ? odd(random.below((opened.lastId + 1) / 2)) : random.below(40);
  const begin = (): number => (opened.lastId += 2);
  return random.pick([
    () => get(begin()),
    () => post(begin()),
    () => post(begin(), '/', [['content-length', String(random.below(10))]]),
    () => headers(begin(), requestBlock('/').subarray(0, 2), FrameFlag.endStream),
    () => data(id, Buffer.alloc(random.below(20)), random.chance(0.3)),
    () => data(id, Buffer.alloc(random.below(20))),
    () => headers(id, blockOf([['x', 'y']])),
    () => frame(FrameType.continuation, FrameFlag.endHeaders, opened.lastId, requestBlock('/').subarray(2)),
    () => reset(id),
    () => widen(random.chance(0.5) ? 0 : id, random.pick([0, 1, 1000, 2 ** 31 - 1])),
    () => settingsFrame([[1 + random.below(7), random.pick([0, 1, 100, 16_384, 65_535, 2 ** 31 - 1])]]),
    () => frame(FrameType.ping, random.below(2), 0, Buffer.alloc(8)),
    () => frame(FrameType.priority, 0, id, Buffer.alloc(5)),
    () => frame(random.below(16), random.below(256), id, Buffer.alloc(random.below(12), random.below(256))),
    () => (random.chance(0.2) ? goaway() : get(begin())),
  ])();
}

function someBytes(random: Random, opened: { lastId: number }): Buffer {
  const bytes = Buffer.concat([get((opened.lastId += 2)), ...Array.from({ length: 1 + random.below(14) }, () => someFrame(random, opened))]);
  for (let count = random.chance(0.5) ? 1 + random.below(4) : 0; count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

test('20,000 sequences of frames, half of them with bytes changed, leave nothing behind', { timeout: 120_000 }, async () => {
  server = await TestServer.start();
  const random = new Random(9113);
  const clock = new CountingClock();
  let [served, broken] = [0, 0];
  for (let batch = 0; batch < 200; batch++) {
    const requests: TestRequest[] = [];
    const sockets = Array.from({ length: 100 }, () => {
      const socket = new MemorySocket();
      const connection: ServerConnection = new ServerConnection(
        socket as Duplex as Socket,
        {
          clock,
          headerTimeoutMs: 1000,
          idleTimeoutMs: 1000,
          headerBytes: 4096,
          headerCount: 20,
          streamsPerConnection: 4,
          streamWindowBytes: 1000,
          unansweredResetsPerSecond: 20,
          resetsPerSecond: 40,
          controlFramesPerSecond: 20,
          unsentBytesPerConnection: 100_000,
          maxUnsentBytesPerConnection: 400_000,
          unsent: server.unsent,
        },
        {
          onRequest: (stream, head) => answerSomehow(begin(connection, stream, head), random),
          onOversizedHead: (stream) => begin(connection, stream, { method: 'GET', target: '/', headers: {}, contentLength: undefined }).answer('431'),
          onAbuse: () => broken++,
          onUnread: () => {},
          onViolation: () => broken++,
        },
      );
      return socket;
    });
    const begin = (...[connection, stream, head]: ConstructorParameters<typeof TestRequest>): TestRequest => {
      const request = new TestRequest(connection, stream, head);
      request.listen();
      requests.push(request);
      return request;
    };
    for (const socket of sockets) {
      socket.push(Buffer.concat([PREFACE, settingsFrame([])]));
      const opened = { lastId: -1 };
      socket.push(someBytes(random, opened));
      if (random.chance(0.5)) socket.push(someBytes(random, opened));
    }
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
    for (const socket of sockets) socket.destroy();
    await new Promise(setImmediate);
    served += requests.length;
    expect([requests.filter(({ isOver }) => !isOver).length, clock.openTimers, server.unsent.size, server.unsent.totalBytes]).toEqual([0, 0, 0, 0]);
  }
  expect(served).toBeGreaterThan(20_000);
  expect(broken).toBeGreaterThan(5_000);
});

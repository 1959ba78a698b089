import type { Socket } from 'node:net';
import {
  DEFAULT_FRAME_BYTES,
  FrameFlag,
  FrameType,
  Http2Error,
  PREFACE,
  Setting,
  frame,
  headersFrames,
  numberFrame,
  settingsFrame,
} from '../../src/http2/frames.ts';
import { HeaderReader, encodeHeaders } from '../../src/http2/hpack.ts';
import { readRequestHead } from '../../src/http2/request-head.ts';
import { ServerConnection, type ServerStream } from '../../src/http2/server-connection.ts';
import { TestRequest } from '../../src/http2/test-peer.ts';
import { DEFAULT_LIMITS } from '../../src/serving/limits.ts';
import { UnsentAnswers } from '../../src/serving/unsent-answers.ts';
import { TestClock } from '../../src/util/test-clock.ts';
import { blocksIn, mutateHpack, withLengths } from '../structure/hpack.ts';
import { StillClock } from '../../src/util/test-clock.ts';
import { MemorySocket, feedConnection } from '../memory-socket.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

const GET = encodeHeaders({ ':method': 'GET', ':scheme': 'https', ':authority': 'a', ':path': '/a?b=c', accept: 'x' });
const POST = encodeHeaders({ ':method': 'POST', ':scheme': 'https', ':authority': 'a', ':path': '/echo', 'content-length': '5' });
const get = (id: number): Buffer => headersFrames(id, GET, true);
const post = (id: number, body: string): Buffer =>
  Buffer.concat([headersFrames(id, POST, false), frame(FrameType.data, FrameFlag.endStream, id, Buffer.from(body))]);
const START = Buffer.concat([PREFACE, settingsFrame([])]);

const clock = new StillClock();
const unsent = new UnsentAnswers(DEFAULT_LIMITS, new TestClock());
const LIMITS = {
  clock,
  headerTimeoutMs: 1000,
  idleTimeoutMs: 1000,
  headerBytes: 4096,
  headerCount: 20,
  streamsPerConnection: 8,
  streamWindowBytes: 1000,
  unansweredResetsPerSecond: 20,
  resetsPerSecond: 40,
  controlFramesPerSecond: 20,
  unsentBytesPerConnection: 100_000,
  maxUnsentBytesPerConnection: 400_000,
  unsent,
};

/** The frames behind the preface, to a connection that answers what it is asked; nothing is left behind. */
export const http2Connection: FuzzTarget = {
  name: 'http2-connection',
  seeds: () => [
    Buffer.concat([get(1), post(3, 'hello'), get(5)]),
    Buffer.concat([
      settingsFrame([[Setting.initialWindowSize, 10]]),
      get(1),
      numberFrame(FrameType.windowUpdate, 1, 100),
      numberFrame(FrameType.rstStream, 1, 8),
    ]),
    Buffer.concat([
      frame(FrameType.headers, 0, 1, GET.subarray(0, 3)),
      frame(FrameType.continuation, FrameFlag.endHeaders, 1, GET.subarray(3)),
      frame(FrameType.ping, 0, 0, Buffer.alloc(8)),
    ]),
    Buffer.concat([post(1, 'hello'), frame(FrameType.data, FrameFlag.padded, 1, Buffer.from([2, 1, 0, 0])), frame(FrameType.priority, 0, 3, Buffer.alloc(5))]),
  ],
  tokens: [
    get(7),
    post(9, 'hello'),
    settingsFrame([]),
    numberFrame(FrameType.windowUpdate, 0, 1),
    frame(FrameType.ping, 0, 0, Buffer.alloc(8)),
    numberFrame(FrameType.rstStream, 1, 8),
    frame(FrameType.data, 0, 1, Buffer.from('x')),
    ...bytes('\0\0\0', '\0\0\x01\x05', '\0\x40\0'),
  ],
  refusals: [],
  async run(input) {
    const requests: TestRequest[] = [];
    const socket = new MemorySocket();
    const begin = (stream: ServerStream, target: string): void => {
      const request = new TestRequest(connection, stream, { method: 'GET', target, headers: {}, contentLength: undefined });
      request.listen();
      requests.push(request);
      if (target === '/echo') request.onWhole = () => request.answer(request.body);
      else request.answer('ok');
    };
    const connection: ServerConnection = new ServerConnection(socket as unknown as Socket, LIMITS, {
      onRequest: (stream, { target }) => begin(stream, target),
      onOversizedHead: (stream) => begin(stream, '/'),
      onAbuse() {},
      onUnread() {},
      onViolation() {},
    });
    await feedConnection(socket, START, input);
    if (requests.some(({ isOver }) => !isOver)) throw new WrongAnswer('a request is open when its connection is gone');
    if (unsent.size > 0) throw new WrongAnswer('an answer is counted as unsent when its connection is gone');
    if (clock.openTimers > 0) throw new WrongAnswer('a timer is left behind');
  },
};

/** Up to three header blocks, of which one may use what those before it have put into the table, and the requests in them. */
export const hpack: FuzzTarget = {
  name: 'hpack',
  seeds: () => [
    withLengths([GET, POST]),
    withLengths([POST, GET, GET]),
    withLengths([Buffer.from([0x82, 0x86, 0x84, 0x41, 0x8c, 0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff]), GET]),
    withLengths([Buffer.from([0x40, 1, 0x78, 1, 0x79, 0xbe]), Buffer.from([0x3f, 0xe1, 0x1f, 0xbe])]),
  ],
  mutateStructure: mutateHpack,
  tokens: bytes(
    '\x82',
    '\x86',
    '\x84',
    '\xbe',
    '\xbf',
    '\x40\x01x\x01y',
    '\x7f',
    '\xff\xff\xff\xff\x0f',
    '\x20',
    '\x3f\xe1\x1f',
    '\x00\x01a\x01b',
    '\x10',
    '\x81\xff',
    '\x8c',
  ),
  refusals: [Http2Error],
  run(input) {
    const reader = new HeaderReader({ tableBytes: 4096, listBytes: DEFAULT_FRAME_BYTES, fieldCount: 200 });
    for (const block of blocksIn(input)) readRequestHead(reader.read(block));
  },
};

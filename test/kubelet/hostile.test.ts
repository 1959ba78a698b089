import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { HEADER_DICTIONARY_ID } from '../../src/serving/spdy/dictionary.ts';
import { CONTROL, SpdyFrameReader, controlFrame, dataHeader } from '../../src/serving/spdy/frames.ts';
import { HeaderWriter } from '../../src/serving/spdy/header-block.ts';
import { OPCODE } from '../../src/serving/websocket/frames.ts';
import { clientFrame } from '../../src/serving/websocket/test-frames.ts';
import { residentMiB, stallOf } from '../security/measure.ts';
import type { ServerProcess } from '../support/server.ts';
import { POD_PATH, TestCluster } from './cluster.ts';
import type { TestKubelet } from './kubelet.ts';
import { type RawClient, webSocket } from './raw-client.ts';

/*
 * exec, attach and port-forward between hostile ends: a kubelet that speaks SPDY as nobody should, and clients whose WebSocket frames are none. The process serves on,
 * nothing of either is left, and memory is where it was.
 */

const NONE = Buffer.alloc(0);
const V5 = webSocket('v5.channel.k8s.io');
const FORWARD = webSocket('SPDY/3.1+portforward.k8s.io');
const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v5.channel.k8s.io\r\n\r\n';
/** For those attacks that end nothing: the client goes then. */
const ATTACK_MS = 500;

let cluster: TestCluster;
let server: ServerProcess;
let kubelet: TestKubelet;
let pod: string;
let beforeMiB: number | undefined;
const waits: number[] = [];
const busy = new Map<string, number>();

beforeAll(async () => {
  ({ cluster, server } = await TestCluster.start());
  const node = await cluster.node();
  kubelet = node.kubelet;
  pod = await cluster.pod(node.name);
  const command = cluster.open('GET', exec('echo', 'hello'), V5);
  await command.ended;
  for (let count = 0; count < 50; count++) await cluster.client.get('/api/v1/namespaces/default');
  beforeMiB = residentMiB(server);
});
afterAll(async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

const exec = (...command: string[]): string =>
  `${POD_PATH}/${pod}/exec?stdin=true&stdout=true&stderr=true&${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}`;

/** Until it is over, or has had its time; then the client goes, and the kubelet must be let go of. */
async function endure(client: RawClient): Promise<void> {
  const { waitMs, busyMs } = await stallOf(server, async () => {
    await Promise.race([client.ended, delay(ATTACK_MS)]);
    client.socket.destroy();
    await vi.waitFor(() => expect(kubelet.sockets.size).toBe(0), { timeout: 30_000, interval: 20 });
  });
  waits.push(waitMs);
  busy.set(expect.getState().currentTestName!, busyMs ?? 0);
  await cluster.client.expect(200, { path: `${POD_PATH}/${pod}` });
}

/** Writes for as long as there is somebody to take it. Each time in a turn of its own: what is taken at once would leave the test no turn. */
function flood(socket: Duplex, next: (index: number) => Buffer): void {
  let index = 0;
  const pump = (): void => {
    while (!socket.destroyed && socket.write(Buffer.concat(Array.from({ length: 200 }, () => next(index++)))));
  };
  socket.on('drain', () => setImmediate(pump));
  pump();
}

const START = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
START.writeUInt32BE(HEADER_DICTIONARY_ID, 2);
/** The largest block that is read, in 82 bytes: each must be inflated, since those behind it build on it. */
const block = Buffer.alloc(64 * 1024 - 1);
const squeezed = deflateRawSync(block, { finishFlush: 2 });
const accept = (id: number, writer: HeaderWriter): Buffer => controlFrame(CONTROL.SYN_REPLY, 0, id, writer.write({}));
/** The error stream is the first that is opened, then stdin, stdout and stderr. */
const [ERROR, STDOUT, STDERR] = [1, 5, 7];

/** Accepts streams as they are opened, and tells of the last of them. */
const acceptAll = (socket: Duplex, onAll: () => void = () => {}): void => {
  const writer = new HeaderWriter();
  const control = (type: number, _flags: number, payload: Buffer): void => {
    if (type !== CONTROL.SYN_STREAM) return;
    socket.write(accept(payload.readUInt32BE(0), writer));
    if (payload.readUInt32BE(0) === STDERR) onAll();
  };
  const frames = new SpdyFrameReader({ control, data: () => {} });
  socket.on('data', (chunk: Buffer) => frames.feed(chunk));
};

describe('a kubelet that sends', () => {
  test.each<[string, (socket: Duplex) => void]>([
    ['nothing at all', () => {}],
    [
      'a flood of streams, which are refused',
      (socket) => {
        const writer = new HeaderWriter();
        flood(socket, (index) => controlFrame(CONTROL.SYN_STREAM, 0, 2 * index + 2, 0, Buffer.alloc(2), writer.write({ a: 'b' })));
      },
    ],
    [
      'a flood of streams, and reads none of the refusals',
      (socket) => {
        const writer = new HeaderWriter();
        socket.pause();
        flood(socket, (index) => controlFrame(CONTROL.SYN_STREAM, 0, 2 * index + 2, 0, Buffer.alloc(2), writer.write({ a: 'b' })));
      },
    ],
    ['a refusal of every stream', (socket) => flood(socket, (index) => controlFrame(CONTROL.RST_STREAM, 0, 2 * (index % 100) + 1, 3))],
    [
      'resets of streams that it has accepted',
      (socket) => {
        acceptAll(socket);
        flood(socket, (index) => controlFrame(CONTROL.RST_STREAM, 0, 2 * (index % 4) + 1, 5));
      },
    ],
    [
      'a flood of pings, and reads no answer',
      (socket) => {
        socket.pause();
        flood(socket, (index) => controlFrame(CONTROL.PING, 0, 2 * index + 2));
      },
    ],
    [
      'windows of no size and of all',
      (socket) => {
        acceptAll(socket);
        flood(socket, (index) => controlFrame(CONTROL.WINDOW_UPDATE, 0, 2 * (index % 4) + 1, index % 2 === 0 ? 0x7fffffff : 0));
      },
    ],
    ['a flood of settings', (socket) => flood(socket, () => controlFrame(CONTROL.SETTINGS, 0, 0xffffffff, Buffer.alloc(800)))],
    [
      'headers that are bombs',
      (socket) => {
        acceptAll(socket, () => flood(socket, () => controlFrame(CONTROL.HEADERS, 0, 1, squeezed)));
      },
    ],
    ['first headers that are a bomb', (socket) => flood(socket, () => controlFrame(CONTROL.SYN_REPLY, 0, 1, Buffer.concat([START, squeezed])))],
    [
      'replies without end',
      (socket) => {
        const writer = new HeaderWriter();
        flood(socket, () => accept(ERROR, writer));
      },
    ],
    ['a control frame of sixteen megabytes', (socket) => void socket.write(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]))],
    [
      'a control frame that never ends',
      (socket) => {
        socket.write(Buffer.from([0x80, 3, 0, 1, 0, 0, 0xff, 0xff]));
        const timer = setInterval(() => socket.destroyed || socket.write('x'), 5);
        socket.once('close', () => clearInterval(timer));
      },
    ],
    ['data of streams that nobody opened', (socket) => flood(socket, (index) => Buffer.concat([dataHeader(index + 9, 0, 1), Buffer.from('x')]))],
    ['data before it accepts', (socket) => flood(socket, () => Buffer.concat([dataHeader(ERROR, 0, 100), Buffer.alloc(100)]))],
    [
      'errors without end',
      (socket) => {
        acceptAll(socket);
        flood(socket, () => Buffer.concat([dataHeader(ERROR, 0, 100), Buffer.alloc(100, 'x')]));
      },
    ],
    [
      'output byte by byte',
      (socket) => {
        acceptAll(socket);
        flood(socket, () => Buffer.concat([dataHeader(STDOUT, 0, 1), Buffer.from('x')]));
      },
    ],
    ['a goAway', (socket) => void socket.write(controlFrame(CONTROL.GOAWAY, 0, 0, 0))],
    ['the end in the middle of a frame', (socket) => void socket.end(Buffer.from([0x80, 3, 0]))],
  ])('%s', async (_, attack) => {
    kubelet.misbehave = (_request, socket) => {
      socket.on('error', () => {});
      socket.write(UPGRADED);
      // Read, unless the attack is that it is not.
      socket.resume();
      attack(socket);
      return true;
    };
    await endure(cluster.open('GET', exec('sh'), V5));
  });

  test('output that its client does not read: it waits, and takes no memory', async () => {
    let sentBytes = 0;
    kubelet.misbehave = (_request, socket) => {
      socket.on('error', () => {});
      socket.write(UPGRADED);
      const piece = Buffer.concat([dataHeader(STDOUT, 0, 60_000), Buffer.alloc(60_000, 'x')]);
      acceptAll(socket, () => flood(socket, () => ((sentBytes += piece.length), piece)));
      return true;
    };
    const client = cluster.open('GET', exec('sh'), V5);
    await client.until('x'.repeat(1000));
    client.socket.pause();
    const before = residentMiB(server);
    let settled = -1;
    await vi.waitFor(
      () => {
        const isSettled = settled === sentBytes;
        settled = sentBytes;
        expect(isSettled).toBe(true);
      },
      { timeout: 30_000, interval: 200 },
    );
    if (before !== undefined) expect(residentMiB(server)! - before).toBeLessThan(60);
    await endure(client);
  });
});

/** A frame by hand. `length`: what it says, where that is not what it has. */
function oddFrame(first: number, second: number, ...rest: (number | Buffer)[]): Buffer {
  return Buffer.concat([Buffer.from([first, second]), ...rest.map((part) => (typeof part === 'number' ? Buffer.from([part]) : part))]);
}

const MASK = Buffer.from([1, 2, 3, 4]);

describe('a client that sends', () => {
  beforeAll(() => {
    kubelet.misbehave = () => false;
  });

  const attacks: [name: string, closeCode: number | undefined, attack: (client: RawClient) => void][] = [
    ['frames that are not masked', 1002, ({ socket }) => void socket.write(oddFrame(0x82, 1, 0x61))],
    ['reserved bits', 1002, ({ socket }) => void socket.write(oddFrame(0xc2, 0x81, MASK, 0x61))],
    ['an unknown opcode', 1002, ({ socket }) => void socket.write(oddFrame(0x83, 0x81, MASK, 0x61))],
    ['an unknown control frame', 1002, ({ socket }) => void socket.write(oddFrame(0x8b, 0x80, MASK))],
    ['a control frame in parts', 1002, ({ socket }) => void socket.write(oddFrame(0x09, 0x80, MASK))],
    ['a control frame of 126 bytes', 1002, ({ socket }) => void socket.write(oddFrame(0x89, 0xfe, 0, 126, MASK, Buffer.alloc(126)))],
    ['a frame of 2^63 bytes', 1009, ({ socket }) => void socket.write(oddFrame(0x82, 0xff, Buffer.alloc(8, 0xff), MASK))],
    ['a continuation of nothing', 1002, ({ socket }) => void socket.write(clientFrame(OPCODE.CONTINUATION, NONE))],
    [
      'a message within a message',
      1002,
      ({ socket }) => void socket.write(Buffer.concat([clientFrame(OPCODE.BINARY, NONE, false), clientFrame(OPCODE.BINARY, NONE)])),
    ],
    [
      'a flood of empty parts',
      undefined,
      ({ socket }) => {
        socket.write(clientFrame(OPCODE.BINARY, Buffer.from([0]), false));
        flood(socket, () => clientFrame(OPCODE.CONTINUATION, NONE, false));
      },
    ],
    [
      'a flood of parts of one byte, with pings between',
      undefined,
      ({ socket }) => {
        socket.write(clientFrame(OPCODE.BINARY, Buffer.from([0]), false));
        flood(socket, (index) => (index % 2 === 0 ? clientFrame(OPCODE.CONTINUATION, Buffer.from('x'), false) : clientFrame(OPCODE.PING, Buffer.alloc(125))));
      },
    ],
    [
      'a flood of pings, and reads no answer',
      undefined,
      ({ socket }) => {
        socket.pause();
        flood(socket, () => clientFrame(OPCODE.PING, Buffer.alloc(125)));
      },
    ],
    ['a flood of pongs', undefined, ({ socket }) => flood(socket, () => clientFrame(OPCODE.PONG, NONE))],
    [
      'a flood of channels that there are not',
      undefined,
      ({ socket }) => flood(socket, (index) => clientFrame(OPCODE.BINARY, Buffer.from([5 + (index % 200), 1]))),
    ],
    [
      'sizes of the terminal without end',
      undefined,
      ({ socket }) => flood(socket, () => clientFrame(OPCODE.BINARY, Buffer.from('\u0004{"Width":1,"Height":1}'))),
    ],
    [
      'the end of all channels, again and again',
      undefined,
      ({ socket }) => flood(socket, (index) => clientFrame(OPCODE.BINARY, Buffer.from([255, index % 5]))),
    ],
    ['a close that never ends', undefined, ({ socket }) => flood(socket, () => clientFrame(OPCODE.CLOSE, Buffer.from([3, 232])))],
    ['half a close, and waits', undefined, ({ socket }) => void socket.write(oddFrame(0x88, 0xfd, MASK, 3))],
    ['text where bytes are spoken', undefined, ({ socket }) => flood(socket, () => clientFrame(OPCODE.TEXT, Buffer.from('\u0000x')))],
    [
      'frames byte by byte',
      undefined,
      ({ socket }) => {
        const bytes = clientFrame(OPCODE.BINARY, Buffer.alloc(1000));
        let at = 0;
        const timer = setInterval(() => socket.destroyed || socket.write(bytes.subarray(at, ++at)), 2);
        socket.once('close', () => clearInterval(timer));
      },
    ],
  ];

  test.each(attacks)('%s to a command', async (_, closeCode, attack) => {
    const client = cluster.open('GET', exec('sh', '-c', 'echo ready; exec sleep 100'), V5);
    await client.until('ready');
    attack(client);
    if (closeCode !== undefined) {
      await client.ended;
      expect(client.messages.at(-1)).toBe(`8:${String.fromCharCode(closeCode >> 8, closeCode & 0xff)}`);
    }
    await endure(client);
  });

  test.each(attacks)('%s to a forwarded port', async (_, _closeCode, attack) => {
    const client = cluster.open('GET', `${POD_PATH}/${pod}/portforward`, FORWARD);
    await client.until('101');
    attack(client);
    await endure(client);
  });

  test('SPDY streams without end through a forwarded port', async () => {
    const client = cluster.open('GET', `${POD_PATH}/${pod}/portforward`, FORWARD);
    await client.until('101');
    const writer = new HeaderWriter();
    flood(client.socket, (index) => {
      const headers = { streamtype: 'error', port: '1', requestid: String(index) };
      return clientFrame(OPCODE.BINARY, controlFrame(CONTROL.SYN_STREAM, 0, 2 * index + 1, 0, Buffer.alloc(2), writer.write(headers)));
    });
    await endure(client);
  });
});

test('the server did not stand still for it, and its memory is where it was', async () => {
  const sorted = waits.toSorted((a, b) => a - b);
  console.info(`another's GET waited ${sorted.at(-1)!.toFixed(0)} ms at most, ${sorted[sorted.length >> 1]!.toFixed(0)} ms at the median`);
  const [slowest] = [...busy].toSorted(([, a], [, b]) => b - a);
  console.info(`of the thread's time, most was taken by: ${slowest!.join(', ')} ms`);
  expect(sorted[sorted.length >> 1]).toBeLessThan(1000);
  if (beforeMiB === undefined) return;
  let afterMiB = Infinity;
  for (let tries = 0; tries < 100 && afterMiB - beforeMiB > 120; tries++) {
    for (let count = 0; count < 20; count++) await cluster.client.get('/api/v1/namespaces/default');
    await delay(50);
    afterMiB = residentMiB(server)!;
  }
  console.info(`resident MiB: ${beforeMiB.toFixed(0)} before, ${afterMiB.toFixed(0)} after ${waits.length} attacks`);
  expect(afterMiB - beforeMiB).toBeLessThan(120);
});

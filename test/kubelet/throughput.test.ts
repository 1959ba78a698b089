import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Clients } from '../support/kubectl.ts';
import type { ServerProcess } from '../support/server.ts';
import { TestCluster } from './cluster.ts';

/* A lot through a forwarded port: the server holds none of it. */

const GIGABYTE = 1_000_000_000;
const GROWTH_MAX_BYTES = 64 * 1024 * 1024;

let server: ServerProcess;
let kubectl: Clients;
let pod: string;

beforeAll(async () => {
  const started = await TestCluster.start();
  server = started.server;
  kubectl = new Clients(server);
  const { name } = await started.cluster.node();
  pod = await started.cluster.pod(name);
});

/** What a pod would listen with; ends with the test file. */
async function listening(listener: Server): Promise<number> {
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterAll(() => void listener.close());
  return (listener.address() as AddressInfo).port;
}

/** Writes so much, at the reader's pace, and says how much went. */
function send(socket: Socket, sizeBytes: number, onSent: (sentBytes: number) => void = () => {}): void {
  const chunk = Buffer.alloc(256 * 1024, 'x');
  let sentBytes = 0;
  socket.on('error', () => {});
  const pump = (): void => {
    while (sentBytes < sizeBytes) {
      const piece = chunk.subarray(0, sizeBytes - sentBytes);
      sentBytes += piece.length;
      onSent(sentBytes);
      if (!socket.write(piece)) return void socket.once('drain', pump);
    }
    socket.end();
  };
  pump();
}

/** Resolves when a number that was not 0 does not change any more. */
async function stillness(value: () => number): Promise<void> {
  for (let last = 0; ; last = value()) {
    await setTimeout(500);
    if (last !== 0 && value() === last) return;
  }
}

const memoryBytes = (): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) * 1024;

const cpuMs = (): number => {
  const fields = readFileSync(`/proc/${server.child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10; // user and system, in hundredths of a second
};

/** What the server came to while a port was forwarded. */
async function growthDuring(
  port: number,
  env: Record<string, string>,
  use: (localPort: number, look: () => void) => Promise<void>,
): Promise<{ bytes: number; ms: number }> {
  const forward = kubectl.startKubectl(`port-forward pod/${pod} :${port}`, env);
  const [, local] = /127\.0\.0\.1:(\d+) ->/.exec(await forward.next())!;
  const [beforeBytes, beforeMs] = [memoryBytes(), cpuMs()];
  let mostBytes = 0;
  await use(Number(local), () => {
    mostBytes = Math.max(mostBytes, memoryBytes());
  });
  const growth = { bytes: mostBytes - beforeBytes, ms: cpuMs() - beforeMs };
  await forward.stop();
  return growth;
}

describe.each([
  ['WebSocket', {}],
  ['SPDY', { KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }],
])('over %s', (transport, env) => {
  const report = (what: string, { bytes, ms }: { bytes: number; ms: number }): void =>
    console.log(`${what} over ${transport}: ${ms} ms of CPU, memory grew by ${Math.round(bytes / 1e6)} MB at most`);

  test('a gigabyte from a pod', { timeout: 180_000 }, async () => {
    const port = await listening(createServer((socket) => send(socket, GIGABYTE)));
    let received = 0;
    const growth = await growthDuring(port, env, async (local, look) => {
      const socket = connect(local, '127.0.0.1');
      let chunks = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (chunks++ % 200 === 0) look();
      });
      await once(socket, 'close');
    });
    report('a gigabyte from a pod', growth);
    expect(received).toBe(GIGABYTE);
    expect(growth.bytes).toBeLessThan(GROWTH_MAX_BYTES);
  });

  test('a gigabyte to a pod', { timeout: 180_000 }, async () => {
    let received = 0;
    const gotAll = new EventEmitter();
    const sink = createServer((socket) =>
      socket
        .on('error', () => {})
        .on('data', (chunk) => {
          received += chunk.length;
          if (received === GIGABYTE) gotAll.emit('all');
        }),
    );
    const growth = await growthDuring(await listening(sink), env, async (local, look) => {
      const socket = connect(local, '127.0.0.1');
      socket.resume();
      let calls = 0;
      const all = once(gotAll, 'all');
      send(socket, GIGABYTE, () => void (calls++ % 100 === 0 && look()));
      await all;
      socket.destroy();
    });
    report('a gigabyte to a pod', growth);
    expect(growth.bytes).toBeLessThan(GROWTH_MAX_BYTES);
  });

  test('a reader that stops stops the sender', { timeout: 180_000 }, async () => {
    let sent = 0;
    const port = await listening(createServer((socket) => send(socket, GIGABYTE, (bytes) => void (sent = bytes))));
    const growth = await growthDuring(port, env, async (local, look) => {
      const socket = connect(local, '127.0.0.1').pause();
      // It stands still when all that lies between them is full.
      await stillness(() => sent);
      look();
      socket.destroy();
    });
    expect(sent).toBeLessThan(GIGABYTE / 4);
    expect(growth.bytes).toBeLessThan(GROWTH_MAX_BYTES);
  });
});

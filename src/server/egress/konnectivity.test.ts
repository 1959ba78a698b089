import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MetricRegistry } from '../../metrics/registry.ts';
import { type Dial, dialUnix } from '../../net/dial.ts';
import { type KonnectivityOptions, dialKonnectivity } from './konnectivity.ts';
import { type PacketId, PacketType } from './packets.ts';
import { type ProxyStream, TestKonnectivity } from './test-konnectivity.ts';
import { registerTunnelMetrics } from './tunnel-metrics.ts';

/* Against a proxy on Node's own HTTP/2, on a real socket, with real targets behind it. */

const MEGABYTE = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'binnacle-konnectivity-'));
const NEVER = new AbortController().signal;
let files = 0;
let socketPath: string;
let proxy: TestKonnectivity;
let registry: MetricRegistry;
let dials: string[];
let targets: Server[];

beforeEach(async () => {
  socketPath = join(folder, `${++files}.sock`);
  proxy = await new TestKonnectivity().listen(socketPath);
  registry = new MetricRegistry();
  dials = [];
  targets = [];
});

afterEach(() => {
  proxy.close();
  for (const server of targets) server.close();
  rmSync(socketPath, { force: true });
});

function dialer(options: Partial<KonnectivityOptions> = {}): Dial {
  return dialKonnectivity(
    { authority: 'localhost', hasTls: false, open: (signal) => dialUnix(socketPath, signal) },
    {
      tunnels: registerTunnelMetrics(registry),
      dials: { onStart: () => dials.push('start'), onFailure: (stage) => dials.push(stage), onSuccess: () => dials.push('success') },
      ...options,
    },
  );
}

async function target(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer(serve).listen(0, '127.0.0.1');
  targets.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const echo = (): Promise<number> => target((socket) => socket.on('error', () => undefined).pipe(socket));
const metrics = (name: string): string[] =>
  registry
    .print()
    .split('\n')
    .filter((line) => line.startsWith(`konnectivity_network_proxy_client_${name}`))
    .map((line) => line.slice('konnectivity_network_proxy_client_'.length));

test('a connection there and back, in a tunnel of its own', async () => {
  const port = await echo();
  const dial = dialer();
  const [first, second] = await Promise.all([dial('127.0.0.1', port, NEVER), dial('127.0.0.1', port, NEVER)]);
  expect(proxy.targets).toEqual([`127.0.0.1:${port}`, `127.0.0.1:${port}`]);
  expect([proxy.streams.size, proxy.connections]).toEqual([2, 2]);
  expect(metrics('client_connections')).toEqual(['client_connections{status="created"} 0', 'client_connections{status="dialing"} 0', 'client_connections{status="ok"} 2']); // prettier-ignore
  for (const socket of [first, second]) {
    socket.cork();
    socket.write('hel');
    socket.write(Buffer.from('lo'));
    socket.uncork();
    expect(String((await once(socket, 'data'))[0])).toBe('hello');
    socket.resume().end();
    await once(socket, 'close');
  }
  await proxy.until(() => proxy.connections === 0);
  expect(metrics('client_connections{status="ok"}')).toEqual(['client_connections{status="ok"} 0']);
  expect(metrics('stream_packets_total{packet_type="CLOSE_RSP"')).toEqual(['stream_packets_total{packet_type="CLOSE_RSP",segment="to_client"} 2']);
  expect(metrics('stream_errors')).toEqual([]);
  expect(dials.toSorted()).toEqual(['start', 'start', 'success', 'success']);
});

test('an address of IPv6 is in brackets', async () => {
  proxy.answer = (stream, random) => stream.sendDialResponse(random, 'no');
  await expect(dialer()('fd00::1', 443, NEVER)).rejects.toThrow(/^no$/);
  expect(proxy.targets).toEqual(['[fd00::1]:443']);
});

test('the target closes', async () => {
  const port = await target((socket) => socket.end('all there is'));
  const socket = await dialer()('127.0.0.1', port, NEVER);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe('all there is');
  await proxy.until(() => proxy.connections === 0);
});

describe('a dial that fails', () => {
  const reasonOf = (): string[] => metrics('dial_failure_total').map((line) => /reason="(\w+)"\} 1/.exec(line)![1]!);

  test('because of the target', async () => {
    const port = await echo();
    for (const server of targets.splice(0)) await new Promise((resolve) => server.close(resolve));
    await expect(dialer()('127.0.0.1', port, NEVER)).rejects.toThrow(`connect ECONNREFUSED 127.0.0.1:${port}`);
    expect([reasonOf(), dials]).toEqual([['endpoint'], ['start', 'proxy']]);
    await proxy.until(() => proxy.connections === 0);
  });

  test.each<[string, (stream: ProxyStream, random: PacketId) => void, string, string]>([
    ['with a DIAL_CLS', (stream, random) => stream.sendDialClose(random), 'dial closed', 'dialclosed'],
    ['with the end of the stream', (stream) => stream.end(), 'tunnel closed', 'tunnelclosed'],
    ['with the answer to another dial', (stream, random) => stream.sendDialResponse(Number(random) + 1), 'tunnel closed', 'tunnelclosed'],
    ['with what is no packet', (stream) => stream.sendRaw(Buffer.from([0x1a, 0xff])), 'tunnel closed', 'tunnelclosed'],
    ['with the end of the proxy', () => proxy.cut(), 'tunnel closed', 'tunnelclosed'],
  ])('%s', async (_, answer, message, reason) => {
    proxy.answer = answer;
    await expect(dialer()('10.0.0.1', 1, NEVER)).rejects.toThrow(message);
    expect(reasonOf()).toEqual([reason]);
    await proxy.until(() => proxy.connections === 0);
    expect(metrics('client_connections{status="dialing"}')).toEqual(['client_connections{status="dialing"} 0']);
  });

  test('because nobody answers, after a while; the proxy is told', async () => {
    proxy.answer = () => undefined;
    await expect(dialer({ dialTimeoutMs: 30 })('10.0.0.1', 1, NEVER)).rejects.toThrow('dial timeout, backstop');
    await proxy.until(() => proxy.received.includes(PacketType.dialCls) && proxy.connections === 0);
    expect(reasonOf()).toEqual(['timeout']);
    expect(metrics('stream_errors_total')).toEqual(['stream_errors_total{code="Canceled",packet_type="Unknown",segment="to_client"} 1']);
  });

  test('because whoever asked has gone', async () => {
    const client = new AbortController();
    proxy.answer = () => client.abort();
    await expect(dialer()('10.0.0.1', 1, client.signal)).rejects.toThrow('dial timeout, context');
    await proxy.until(() => proxy.received.includes(PacketType.dialCls));
    expect(reasonOf()).toEqual(['context']);
  });

  test('because the proxy is not there', async () => {
    proxy.close();
    await expect(dialer({ connectTimeoutMs: 20 })('10.0.0.1', 1, NEVER)).rejects.toThrow(
      /^context deadline exceeded: connection error: desc = "transport: error while dialing: connect ENOENT/,
    );
    expect(dials).toEqual(['start', 'connect']);
    await expect(dialer()('10.0.0.1', 1, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  test('because it speaks something else', async () => {
    proxy.close();
    const strange = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    targets.push(strange.listen(socketPath));
    await once(strange, 'listening');
    await expect(dialer()('10.0.0.1', 1, NEVER)).rejects.toThrow('tunnel closed');
  });
});

test('a proxy that is started again is waited for', async () => {
  const port = await echo();
  proxy.close();
  const dialled = dialer()('127.0.0.1', port, NEVER);
  proxy = await new TestKonnectivity().listen(socketPath);
  (await dialled).destroy();
  expect(dials).toEqual(['start', 'success']);
});

describe('a proxy that misbehaves once a connection stands', () => {
  async function open(answer: (stream: ProxyStream, random: PacketId) => void, options?: Partial<KonnectivityOptions>): Promise<Socket> {
    proxy.answer = answer;
    return dialer(options)('10.0.0.1', 1, NEVER);
  }

  test('it goes away: the connection is broken, not ended', async () => {
    const socket = await open((stream, random) => {
      stream.sendDialResponse(random);
      stream.sendData(Buffer.from('half'));
    });
    expect(String((await once(socket, 'data'))[0])).toBe('half');
    proxy.cut();
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toBe('tunnel closed');
    expect(metrics('stream_errors_total')).toEqual(['stream_errors_total{code="Unavailable",packet_type="Unknown",segment="to_client"} 1']);
  });

  test('data of another connection is refused, of none ignored', async () => {
    const socket = await open((stream, random) => {
      stream.sendDialResponse(random);
      stream.sendData(Buffer.from('strange'), 99);
      stream.sendData(Buffer.from('lost'), 0);
      stream.sendData(Buffer.from('ours'));
    });
    expect(String((await once(socket, 'data'))[0])).toBe('ours');
    await proxy.until(() => proxy.received.includes(PacketType.closeReq));
    socket.destroy();
  });

  test('a lot of data of other connections, by one who does not read, fills no memory', async () => {
    const COUNT = 40_000;
    const socket = await open((stream, random) => {
      stream.pause();
      stream.sendDialResponse(random);
      for (let i = 0; i < COUNT; i++) stream.sendData(Buffer.from('strange'), 99);
      stream.sendData(Buffer.from('ours'));
    });
    expect(String((await once(socket, 'data'))[0])).toBe('ours');
    const [line] = metrics('stream_packets_total{packet_type="CLOSE_REQ"');
    expect(Number(line!.split(' ')[1])).toBeLessThan(COUNT / 2);
    socket.destroy();
  });

  test('a second answer to the dial ends it', async () => {
    const socket = await open((stream, random) => {
      stream.sendDialResponse(random);
      stream.sendDialResponse(random);
    });
    await proxy.until(() => proxy.connections === 0);
    expect(socket.errored?.message).toBe('tunnel closed');
  });

  test('a close that it does not confirm ends by itself', async () => {
    proxy.confirmsClose = false;
    const socket = await open((stream, random) => stream.sendDialResponse(random), { closeTimeoutMs: 30 });
    socket.destroy();
    await proxy.until(() => proxy.received.includes(PacketType.closeReq) && proxy.connections === 0);
  });
});

describe('a lot', () => {
  test('64 MB there and back at once arrive whole', async () => {
    const size = 64 * MEGABYTE;
    const socket = await dialer()('127.0.0.1', await echo(), NEVER);
    const chunk = Buffer.alloc(MEGABYTE, 'x');
    let received = 0;
    const all = new Promise<void>((resolve) =>
      socket.on('data', (piece: Buffer) => {
        received += piece.length;
        if (received >= size) resolve();
      }),
    );
    for (let sent = 0; sent < size; sent += chunk.length) if (!socket.write(chunk)) await once(socket, 'drain');
    await all;
    expect(received).toBe(size);
    socket.destroy();
  });

  test('a reader that does not read stops the target, and a target that does not read stops the writer', async () => {
    let written = 0;
    const source = await target((socket) => {
      socket.on('error', () => undefined);
      const pump = (): void => {
        while (written < 64 * MEGABYTE) {
          written += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', pump);
        }
      };
      pump();
    });
    const reading = await dialer()('127.0.0.1', source, NEVER);
    await settled(() => written);
    expect(reading.readableLength).toBeLessThan(MEGABYTE);
    expect(written).toBeLessThan(32 * MEGABYTE);
    reading.resume();
    await settled(() => written);
    expect(written).toBeGreaterThanOrEqual(64 * MEGABYTE);
    reading.destroy();

    const sink = await target((socket) => socket.pause());
    const writing = await dialer()('127.0.0.1', sink, NEVER);
    let sent = 0;
    const pump = (): void => {
      while (sent < 64 * MEGABYTE) {
        sent += 65_536;
        if (!writing.write(Buffer.alloc(65_536))) return void writing.once('drain', pump);
      }
    };
    pump();
    await settled(() => sent);
    expect(sent).toBeLessThan(32 * MEGABYTE);
    writing.destroy();
  });
});

/** Resolves when a number that was not 0 does not change any more. */
async function settled(value: () => number): Promise<void> {
  for (let last = -1; last !== value() || last === 0;) {
    last = value();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

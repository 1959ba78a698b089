import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { backendAuthority, startBackend } from './test-backend.ts';
import { ThrottledConnection } from './throttle.ts';
import { Transport } from './transport.ts';
import { upgradeBackend } from './upgrade.ts';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** The two ends of a connection. */
async function socketPair(): Promise<[near: Socket, far: Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const far = await accepted;
  cleanups.push(() => (near.destroy(), far.destroy(), server.close()));
  return [near, far];
}

test('what comes in is held to the rate, and is all there at the end', async () => {
  const [near, far] = await socketPair();
  const throttled = new ThrottledConnection(near, 10_000);
  const startMs = performance.now();
  far.end('x'.repeat(3500));
  expect(await text(throttled)).toBe('x'.repeat(3500));
  // 1000 bytes at once, and 1000 more each tenth of a second.
  expect(performance.now() - startMs).toBeGreaterThan(280);
});

test('what goes out is too', async () => {
  const [near, far] = await socketPair();
  const throttled = new ThrottledConnection(near, 10_000);
  const startMs = performance.now();
  throttled.write('a'.repeat(2500));
  throttled.end('b'.repeat(1000));
  expect(await text(far)).toBe('a'.repeat(2500) + 'b'.repeat(1000));
  expect(performance.now() - startMs).toBeGreaterThan(280);
});

test('below the rate, nothing waits', async () => {
  const [near, far] = await socketPair();
  const throttled = new ThrottledConnection(near, 1_000_000_000);
  throttled.end('ping');
  far.end('pong');
  expect(await Promise.all([text(throttled), text(far)])).toEqual(['pong', 'ping']);
});

test('the end of the socket is the end of it, and the other way round', async () => {
  const [near, far] = await socketPair();
  const throttled = new ThrottledConnection(near, 1000);
  throttled.on('error', () => {});
  throttled.resume();
  const closed = new Promise((resolve) => throttled.once('close', resolve));
  far.resetAndDestroy();
  await closed;
  const [other] = await socketPair();
  const second = new ThrottledConnection(other, 1000);
  second.destroy();
  expect(other.destroyed).toBe(true);
});

test('a transport with a limit throttles what is upgraded over it', async () => {
  const backend = await startBackend((_request, response) => void response.end(), {
    onUpgrade: (_request, socket) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n${'x'.repeat(100_000)}`),
  });
  const transport = new Transport({ tls: { caPem: backendAuthority.certPem }, upgradedBytesPerSecond: 200_000 });
  cleanups.push(
    () => transport.close(),
    () => void backend.close(),
  );
  const startMs = performance.now();
  const target = { transport, host: '127.0.0.1', port: backend.port, path: '/' };
  const outcome = await upgradeBackend(target, { method: 'GET', headers: { upgrade: 'x', host: 'a' } }, new AbortController().signal);
  if ('refusal' in outcome) throw new Error('refused');
  const { connection, head } = outcome;
  expect(head.length + (await text(connection)).length).toBe(100_000);
  // What came along with the answer is not counted: up to a TLS record of 16 KiB.
  expect(performance.now() - startMs).toBeGreaterThan(280);
});

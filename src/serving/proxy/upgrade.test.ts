import { afterEach, expect, test, vi } from 'vitest';
import type { TLSSocket } from 'node:tls';
import { connectRaw, readToEnd, startListener } from '../test-server.ts';
import type { BackendHandler } from './test-backend.ts';
import { backendAuthority, startBackend } from './test-backend.ts';
import { Transport } from './transport.ts';
import { isUpgradeRequest, tunnel, upgradeBackend } from './upgrade.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type OnUpgrade = NonNullable<NonNullable<Parameters<typeof startBackend>[1]>['onUpgrade']>;

async function startTunnel(onUpgrade: OnUpgrade, handler: BackendHandler = (_request, response) => void response.writeHead(500).end('not upgraded')) {
  const backend = await startBackend(handler, { onUpgrade });
  const transport = new Transport({ tls: { caPem: backendAuthority.certPem } });
  const listener = await startListener((exchange) => {
    if (!isUpgradeRequest(exchange)) return exchange.respond(400, {}, 'no upgrade');
    const target = { transport, host: '127.0.0.1', port: backend.port, path: exchange.target };
    tunnel(exchange, target, { headers: { 'x-remote-user': 'ann' } }).catch((error: Error) => exchange.respond(503, {}, error.message));
  });
  cleanups.push(
    () => backend.close(),
    () => transport.close(),
    () => listener.close({ graceMs: 0 }),
  );
  const connect = async (headers = ''): Promise<TLSSocket> => {
    const socket = await connectRaw(listener);
    socket.write(
      `GET /x?y=1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: spdy/3.1\r\nX-Remote-User: root\r\nAuthorization: Bearer t\r\n${headers}\r\n`,
    );
    return socket;
  };
  return { backend, connect };
}

const next = (socket: TLSSocket): Promise<string> => new Promise((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));

test('what the backend says goes to the client, and both ways from then on', async () => {
  const { backend, connect } = await startTunnel((request, socket) => {
    const { 'x-remote-user': user, authorization = 'none', upgrade } = request.headers;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\nX-Seen: ${user} ${authorization} ${request.url}\r\n\r\n`);
    socket.on('data', (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
  });
  const socket = await connect();
  const head = await next(socket);
  expect(head).toContain('HTTP/1.1 101 Switching Protocols\r\n');
  expect(head).toContain('X-Seen: ann none /x?y=1');
  socket.write('hello');
  expect(await next(socket)).toBe('HELLO');
  const ended = readToEnd(socket);
  for (const other of backend.sockets) other.end('bye');
  expect(await ended).toBe('bye');
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

test('a failed upgrade closes both ends: no second request rides on it (CVE-2018-1002105)', async () => {
  const seen: string[] = [];
  const { backend, connect } = await startTunnel((request, socket) => {
    seen.push(request.url!);
    socket.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno');
  });
  const socket = await connect();
  const all = readToEnd(socket);
  await next(socket);
  socket.write('GET /secret HTTP/1.1\r\nHost: a\r\nX-Remote-User: admin\r\n\r\n');
  expect(await all).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nno$/);
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
  expect(seen).toEqual(['/x?y=1']);
});

test.each([
  ['HTTP/1.1 302 Found\r\nLocation: https://elsewhere/\r\nContent-Length: 0\r\n\r\n', 'invalid upgrade response: status code 302'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'invalid upgrade response: status code 200'],
  ['garbage\r\n\r\n', 'malformed HTTP response'],
])('an answer that is neither: %j', async (answer, said) => {
  const { backend, connect } = await startTunnel((_request, socket) => void socket.write(answer));
  const socket = await connect();
  expect(await readToEnd(socket)).toMatch(new RegExp(`^HTTP/1.1 503 [^]*${said}`));
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

test('a client that goes takes the backend along, at any time', async () => {
  const { backend, connect } = await startTunnel((request, socket) => {
    if (request.headers['x-late'] === undefined) socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  });
  for (let count = 0; count < 50; count++) {
    const socket = await connect(count % 2 === 0 ? '' : 'X-Late: 1\r\n');
    if (count % 2 === 0) await next(socket);
    else await vi.waitFor(() => expect(backend.sockets.size).toBeGreaterThan(0));
    socket.destroy();
  }
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

test("an upgrade to nothing is the backend's to answer, and leaves no socket", async () => {
  const backend = await startBackend((_request, response) => void response.writeHead(200).end('no upgrade'));
  const transport = new Transport({ tls: { caPem: backendAuthority.certPem } });
  const listener = await startListener((exchange) => {
    tunnel(exchange, { transport, host: '127.0.0.1', port: backend.port, path: '/' }).catch((error: Error) => exchange.respond(503, {}, error.message));
  });
  cleanups.push(
    () => backend.close(),
    () => transport.close(),
    () => listener.close({ graceMs: 0 }),
  );
  const socket = await connectRaw(listener);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\n\r\n');
  expect(await readToEnd(socket)).toContain('invalid upgrade response: status code 200');
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

test('a header that cannot be sent leaves no socket', async () => {
  const backend = await startBackend((_request, response) => void response.writeHead(200).end());
  const transport = new Transport({ tls: { caPem: backendAuthority.certPem } });
  cleanups.push(
    () => backend.close(),
    () => transport.close(),
  );
  const target = { transport, host: '127.0.0.1', port: backend.port, path: '/' };
  await expect(upgradeBackend(target, { method: 'GET', headers: { upgrade: 'a\nb' } }, new AbortController().signal)).rejects.toThrow(
    'Invalid character in header content',
  );
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { WebhookClient } from '../../client/webhook-client.ts';
import { dialDirectly, dialUnix } from '../../net/dial.ts';
import { TlsDialer } from '../tls-dialer.ts';
import { backendAuthority, startBackend } from '../proxy/test-backend.ts';
import { Transport } from '../proxy/transport.ts';
import { streamOf } from '../proxy/answer.ts';
import { type DialObserver, dialThrough } from './http-connect.ts';
import { type Answer, TestProxy, proxyAuthority, proxyClient } from './test-proxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-egress-'));
const socketPath = join(folder, 'proxy.sock');
const secure = new TestProxy({ hasTls: true });
const local = new TestProxy();
const echo = createServer((socket) => socket.pipe(socket));
let echoPort: number;

beforeAll(async () => {
  await Promise.all([secure.listen(), local.listen(socketPath), once(echo.listen(0, '127.0.0.1'), 'listening')]);
  echoPort = (echo.address() as AddressInfo).port;
});
afterAll(() => {
  secure.close();
  local.close();
  echo.close();
  rmSync(folder, { recursive: true });
});

const never = new AbortController().signal;

function observer(): DialObserver & { seen: string[] } {
  const seen: string[] = [];
  return { seen, onStart: () => seen.push('start'), onFailure: (stage) => seen.push(stage), onSuccess: () => seen.push('success') };
}

const dialLocal = (observe: DialObserver = observer(), timeoutMs?: number) =>
  dialThrough({ address: socketPath, open: (signal) => dialUnix(socketPath, signal) }, observe, timeoutMs);

function dialSecure(observe: DialObserver = observer(), clientCertificate = proxyClient) {
  const dialer = new TlsDialer(dialDirectly, { caPem: proxyAuthority.certPem, clientCertificate });
  return dialThrough({ address: `127.0.0.1:${secure.port}`, open: (signal) => dialer.connect('127.0.0.1', secure.port, { protocols: [], signal }) }, observe);
}

async function echoed(socket: Socket): Promise<string> {
  onTestFinished(() => void socket.destroy());
  socket.write('hello');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

test('by a socket in the file system, and by TLS with a client certificate', async () => {
  const observe = observer();
  expect(await echoed(await dialLocal(observe)('127.0.0.1', echoPort, never))).toBe('hello');
  expect(await echoed(await dialSecure(observe)('127.0.0.1', echoPort, never))).toBe('hello');
  expect([local.targets.at(-1), secure.targets.at(-1)]).toEqual([`127.0.0.1:${echoPort}`, `127.0.0.1:${echoPort}`]);
  expect(observe.seen).toEqual(['start', 'success', 'start', 'success']);
});

test.each([true, false])('HTTPS inside (HTTP/2: %s), TLS in TLS included', async (http2) => {
  const backend = await startBackend((_request, response) => response.end('here'), { http2 });
  onTestFinished(() => backend.close());
  for (const dial of [dialLocal(), dialSecure()]) {
    const transport = new Transport({ dial, tls: { caPem: backendAuthority.certPem, serverName: 'localhost' } });
    const { status, body } = await transport.send({ host: '127.0.0.1', port: backend.port, method: 'GET', path: '/', headers: {} }).response;
    expect([status, (await streamOf(body).toArray()).join('')]).toEqual([200, 'here']);
    transport.close();
  }
  await vi.waitFor(() => expect([local.sockets.size, secure.sockets.size]).toEqual([0, 0]));
});

test('webhooks go through it too, named as they are', async () => {
  const backend = await startBackend((_request, response) => response.end('{}'));
  onTestFinished(() => backend.close());
  local.places.set('ext.ns.svc:443', { host: '127.0.0.1', port: backend.port });
  const client = new WebhookClient({ url: new URL('https://ext.ns.svc/'), caPem: backendAuthority.certPem }, { dial: dialLocal() });
  expect((await client.post('{}')).toString()).toBe('{}');
  client.close();
  local.places.set('plain.ns.svc:80', { host: '127.0.0.1', port: backend.port });
  const plain = new WebhookClient({ url: new URL('http://plain.ns.svc/') }, { dial: dialLocal() });
  await expect(plain.post('{}')).rejects.toThrow('Post "http://plain.ns.svc/?timeout=30s"');
  expect(local.targets.at(-1)).toBe('plain.ns.svc:80');
  plain.close();
  await vi.waitFor(() => expect(local.sockets.size).toBe(0));
});

test('a proxy that is not there, or does not know us, fails to connect', async () => {
  const observe = observer();
  const gone = dialThrough({ address: '/no/such.sock', open: (signal) => dialUnix('/no/such.sock', signal) }, observe);
  await expect(gone('x', 1, never)).rejects.toThrow('ENOENT');
  const stranger = dialSecure(observe, { certPem: '', keyPem: '' });
  await expect(stranger('127.0.0.1', echoPort, never)).rejects.toThrow(/certificate|EOF|closed/);
  expect(observe.seen).toEqual(['start', 'connect', 'start', expect.stringMatching(/connect|proxy/)]);
});

const READING = (why: string) => `reading HTTP response from CONNECT to x:1 via proxy ${socketPath} failed: ${why}`;
const endless: Answer = (client) => {
  const line = `x: ${'y'.repeat(10_000)}\r\n`;
  client.write('HTTP/1.1 200 OK\r\n');
  const send = (): void => {
    while (!client.destroyed && client.write(line));
  };
  client.on('drain', send);
  send();
};

/** Each says no in its own way; the connection is never anybody's, and always ends. */
test.each<[string, Answer, string]>([
  ['refuses', (client) => client.write('HTTP/1.1 403 Forbidden\r\n\r\n'), `proxy error from ${socketPath} while dialing x:1, code 403: 403 Forbidden`],
  ['has no reason to give', (client) => client.write('HTTP/1.0 502\r\n\r\n'), `proxy error from ${socketPath} while dialing x:1, code 502: 502`],
  ['is no proxy', (client) => client.write('220 mail.example.com\r\n\r\n'), READING('malformed HTTP response "220 mail.example.com"')],
  ['goes', (client) => client.end(), READING('unexpected EOF')],
  ['goes in the middle of a line', (client) => client.end('HTTP/1.1 2'), READING('unexpected EOF')],
  ['sends headers without end', endless, READING('unexpected EOF')],
  [
    'sends what nobody asked for',
    (client) => client.write('HTTP/1.1 200 OK\r\na: b\r\n\r\nmore'),
    `unexpected 4 bytes of buffered data from CONNECT proxy "${socketPath}"`,
  ],
])('a proxy that %s', async (_what, answer, message) => {
  local.answer = answer;
  onTestFinished(() => void (local.answer = undefined));
  const observe = observer();
  await expect(dialLocal(observe)('x', 1, never)).rejects.toThrow(message);
  expect(observe.seen).toEqual(['start', 'proxy']);
  await vi.waitFor(() => expect(local.sockets.size).toBe(0));
});

test('an answer in single bytes is one; a proxy that hangs is not waited for, nor one that nobody waits for', async () => {
  onTestFinished(() => void (local.answer = undefined));
  local.answer = (client) => {
    const bytes = [...'HTTP/1.1 200 OK\r\nx: y\r\n\r\n'];
    const send = (): void => {
      const next = bytes.shift();
      if (next !== undefined) client.write(next, () => setImmediate(send));
    };
    send();
  };
  (await dialLocal()('x', 1, never)).destroy();
  local.answer = (client) => client.write('HTTP/1.1 200 OK\r\n');
  await expect(dialLocal(observer(), 20)('x', 1, never)).rejects.toThrow(READING('i/o timeout'));
  const givingUp = new AbortController();
  const dialling = dialLocal()('x', 1, givingUp.signal);
  givingUp.abort(new Error('context canceled'));
  await expect(dialling).rejects.toThrow('context canceled');
  await vi.waitFor(() => expect(local.sockets.size).toBe(0));
});

import { Agent, request as httpsRequest } from 'node:https';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Exchange } from '../exchange.ts';
import type { Listener } from '../listener.ts';
import { clients, connectSession, startListener, testAuthority } from '../test-server.ts';
import { isApiError } from '../../api/errors.ts';
import type { TlsTarget } from '../tls-dialer.ts';
import { type ForwardOptions, forward } from './forward.ts';
import { type BackendHandler, type TestBackend, backendAuthority, startBackend } from './test-backend.ts';
import { Transport } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const TRUST: TlsTarget = { caPem: backendAuthority.certPem, serverName: 'ext.ns.svc' };

interface Front {
  listener: Listener;
  transport: Transport;
  backend: TestBackend;
}

/** A proxy before a backend; errors are answered as text, with their code. */
async function startFront(
  handler: BackendHandler,
  { http2 = true, tls = TRUST, maxStreams = 100, ...options }: { http2?: boolean; tls?: TlsTarget; maxStreams?: number } & ForwardOptions = {},
): Promise<Front> {
  const backend = await startBackend(handler, { http2, maxStreams });
  const transport = new Transport({ tls });
  const onExchange = (exchange: Exchange): void => {
    const target = { transport, host: '127.0.0.1', port: backend.port, path: exchange.target };
    forward(exchange, target, options).catch((error: Error) => exchange.respond(isApiError(error) ? error.code : 500, {}, error.message));
  };
  const listener = await startListener(onExchange);
  cleanups.push(
    () => backend.close(),
    () => transport.close(),
    () => listener.close({ graceMs: 0 }),
  );
  return { listener, transport, backend };
}

const echo: BackendHandler = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const { url, method, headers, httpVersion } = request;
    const text = JSON.stringify({ url, method, headers, httpVersion, bytes: body.length });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-own': 'b',
      'access-control-allow-origin': '*',
    });
    response.end(method === 'HEAD' ? undefined : text);
  });
};

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('a client of %s', (version) => {
  const send = clients[version];

  test.each([true, false])('a request and its answer pass (HTTP/2 behind: %s)', async (http2) => {
    const { listener, backend } = await startFront(echo, { http2 });
    const headers = {
      'x-a': '1',
      authorization: 'Bearer secret',
      'x-remote-user': 'root',
      'x-remote-extra-a': 'b',
      'impersonate-user': 'c',
      'x-forwarded-for': '1.2.3.4',
    };
    const { status, headers: answered, body } = await send(listener, { method: 'POST', path: '/a/b%2Fc?q=1%20', headers, body: Buffer.alloc(300_000) });
    expect([status, answered['x-own'], answered['access-control-allow-origin']]).toEqual([200, 'b', undefined]);
    const seen = JSON.parse(body.toString());
    expect(seen).toMatchObject({ url: '/a/b%2Fc?q=1%20', method: 'POST', bytes: 300_000, httpVersion: http2 ? '2.0' : '1.1' });
    expect(seen.headers).toMatchObject({ 'x-a': '1', 'x-forwarded-for': '1.2.3.4, 127.0.0.1' });
    expect(seen.headers[http2 ? ':authority' : 'host']).toBe(`127.0.0.1:${backend.port}`);
    for (const name of ['authorization', 'x-remote-user', 'x-remote-extra-a', 'impersonate-user']) expect(seen.headers[name]).toBeUndefined();
  });

  test.each([true, false])('a connection is used again (HTTP/2 behind: %s)', async (http2) => {
    const { listener, backend } = await startFront(echo, { http2 });
    for (let count = 0; count < 5; count++) expect((await send(listener)).status).toBe(200);
    expect(backend.sockets.size).toBe(1);
  });

  test('an answer without a length streams, at the speed of the client, with its trailers', async () => {
    const { listener } = await startFront((_request, response) => {
      response.writeHead(200, { trailer: 'x-sum' });
      for (let count = 0; count < 64; count++) response.write(Buffer.alloc(64 * 1024, count));
      response.addTrailers({ 'x-sum': '7' });
      response.end();
    });
    const { body, headers } = await send(listener);
    expect([body.length, headers['trailer']]).toEqual([64 * 64 * 1024, 'x-sum']);
  });

  test('a large answer of known length keeps it', async () => {
    const { listener } = await startFront((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 });
      response.end(Buffer.alloc(1_000_000));
    });
    const { body, headers } = await send(listener);
    expect([body.length, headers['content-length']]).toEqual([1_000_000, '1000000']);
  });

  test('HEAD, 204 and 304 have no body', async () => {
    const { listener } = await startFront((request, response) =>
      request.method === 'HEAD' ? echo(request, response) : response.writeHead(Number(request.url!.slice(1))).end(),
    );
    expect(Number((await send(listener, { method: 'HEAD', path: '/' })).headers['content-length'])).toBeGreaterThan(0);
    expect((await send(listener, { path: '/204' })).status).toBe(204);
    expect((await send(listener, { path: '/304' })).status).toBe(304);
  });
});

test('hop-by-hop headers stay, on both sides, and those that Connection names', async () => {
  const { listener } = await startFront(
    (request, response) => {
      response.setHeader('connection', 'x-hop');
      response.setHeader('x-hop', '1');
      response.setHeader('keep-alive', 'timeout=1');
      response.end(JSON.stringify(request.headers));
    },
    { http2: false },
  );
  const headers = { connection: 'x-mine', 'x-mine': '1', 'keep-alive': '1', te: 'trailers, gzip', 'proxy-authorization': 'a' };
  const answer = await clients['HTTP/1.1'](listener, { headers });
  const seen = JSON.parse(answer.body.toString());
  for (const name of ['x-mine', 'keep-alive', 'proxy-authorization']) expect(seen[name]).toBeUndefined();
  expect(seen.te).toBe('trailers');
  expect([answer.headers['x-hop'], answer.headers['keep-alive']]).toEqual([undefined, undefined]);
});

test('redirects with a place to go to are refused (CVE-2022-3172); others pass', async () => {
  const handler: BackendHandler = (request, response) => response.writeHead(302, request.url === '/to' ? { location: 'https://evil' } : {}).end('x');
  const { listener } = await startFront(handler, { rejectsRedirects: true });
  const refused = await clients['HTTP/1.1'](listener, { path: '/to' });
  expect([refused.status, refused.headers['location'], refused.body.toString()]).toEqual([
    502,
    undefined,
    'the backend attempted to redirect this request, which is not permitted',
  ]);
  expect((await clients['HTTP/1.1'](listener, { path: '/nowhere' })).status).toBe(302);
});

test.each([
  [{ caPem: backendAuthority.certPem, serverName: 'other.ns.svc' }, 'certificate is valid for ext.ns.svc, localhost, not other.ns.svc'],
  [{}, 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  [{ isUnverified: true }, '"url"'],
  [{ caPem: backendAuthority.certPem }, '"url"'],
])('who a backend must be: %j', async (tls, said) => {
  const { listener } = await startFront(echo, { tls });
  expect((await clients['HTTP/1.1'](listener)).body.toString()).toContain(said);
});

test('a backend that is away is 503, and found again', async () => {
  const { listener, backend } = await startFront(echo);
  expect((await clients['HTTP/2'](listener)).status).toBe(200);
  await backend.close();
  const { status, body } = await clients['HTTP/2'](listener);
  expect([status, body.toString()]).toEqual([503, `error trying to reach service: dial tcp 127.0.0.1:${backend.port}: connect: connection refused`]);
  const again = await startBackend(echo, { http2: true, port: backend.port });
  cleanups.push(() => again.close());
  expect((await clients['HTTP/2'](listener)).status).toBe(200);
});

test('a backend that breaks off in mid-answer: the client is cut off, or told', async () => {
  const { listener } = await startFront(
    (request, response) => {
      response.writeHead(200, request.url === '/short' ? { 'content-length': '100' } : {});
      response.write('x', () => request.socket.destroy());
    },
    { http2: false },
  );
  expect((await clients['HTTP/1.1'](listener, { path: '/short' })).body.toString()).toBe('error trying to reach service: unexpected EOF');
  await expect(clients['HTTP/1.1'](listener, { path: '/long' })).rejects.toThrow('aborted');
});

test('more requests at a time than a connection takes: another is opened', async () => {
  const held: (() => void)[] = [];
  const { listener, backend } = await startFront((_request, response) => void held.push(() => response.end('x')), { maxStreams: 10 });
  const answers = Array.from({ length: 35 }, () => clients['HTTP/1.1'](listener));
  await vi.waitFor(() => expect(held.length).toBe(35));
  expect(backend.sockets.size).toBeGreaterThanOrEqual(4);
  held.forEach((release) => release());
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
});

/** What each of these is to a client was seen of kube-apiserver v1.36.4. */
test.each([
  ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nmore', 500, 'backend tried to switch protocol "x" when "" was requested'],
  ['garbage\r\n\r\n', 503, 'error trying to reach service: net/http: HTTP/1.x transport connection broken: malformed HTTP response "garbage"'],
  ['', 503, 'error trying to reach service: EOF'],
])('a backend that answers %j', async (answer, status, message) => {
  const { listener, backend } = await startFront((request) => void request.socket.end(answer), { http2: false });
  const got = await clients['HTTP/1.1'](listener);
  expect([got.status, got.body.toString()]).toEqual([status, message]);
  await vi.waitFor(() => expect(backend.sockets.size).toBe(0));
});

test.each([true, false])('a backend that answers before it has read all leaves the client its connection (HTTP/2 behind: %s)', async (http2) => {
  const { listener } = await startFront((_request, response) => response.end('early'), { http2 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: testAuthority.certPem });
  cleanups.push(() => agent.destroy());
  const statuses: (number | undefined)[] = [];
  for (let count = 0; count < 4; count++) {
    const sent = httpsRequest({ agent, host: '127.0.0.1', port: listener.address.port, method: 'POST' });
    sent.end(Buffer.alloc(200_000));
    statuses.push(
      await new Promise((resolve, reject) => sent.on('error', reject).on('response', (got) => got.resume().on('end', () => resolve(got.statusCode)))),
    );
  }
  expect(statuses).toEqual([200, 200, 200, 200]);
});

test.each([true, false])('when the client goes, so does the request (HTTP/2 behind: %s)', async (http2) => {
  let open = 0;
  const { listener } = await startFront(
    (request, response) => {
      open++;
      response.on('close', () => open--);
      response.writeHead(200).write('x');
      void request;
    },
    { http2 },
  );
  for (let count = 0; count < 20; count++) {
    const session = connectSession(listener);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('data', resolve));
    session.destroy();
  }
  await vi.waitFor(() => expect(open).toBe(0));
});

test('a client that does not read stops the backend, without holding others', async () => {
  let written = 0;
  const { listener } = await startFront((request, response) => {
    if (request.url === '/') return void response.end('quick');
    const write = (): void => {
      while (written < 64 << 20 && response.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
      if (written < 64 << 20) response.once('drain', write);
    };
    response.on('error', () => {});
    write();
  });
  const session = connectSession(listener);
  cleanups.push(() => session.destroy());
  const stream = session.request({ ':path': '/slow' });
  stream.on('error', () => {}).pause();
  await new Promise((resolve) => stream.once('response', resolve));
  for (let count = 0; count < 20; count++) expect((await clients['HTTP/2'](listener)).body.toString()).toBe('quick');
  expect(written).toBeLessThan(16 << 20);
});

test('a thousand clients that go leave no connection and no timer behind', async () => {
  const { listener, backend, transport } = await startFront((request, response) => {
    response.writeHead(200);
    if (request.url !== '/silent') response.write('x');
  });
  await clients['HTTP/1.1'](listener, { method: 'HEAD' });
  const count = (kind: string): number => process.getActiveResourcesInfo().filter((resource) => resource === kind).length;
  const timersBefore = count('Timeout');
  for (let round = 0; round < 25; round++) {
    const session = connectSession(listener);
    const streams = Array.from({ length: 40 }, (_none, index) => session.request({ ':path': index % 2 === 0 ? '/silent' : '/' }).on('error', () => {}));
    await new Promise((resolve) => streams[39]!.once('data', resolve));
    session.destroy();
  }
  await vi.waitFor(() => expect(count('Timeout')).toBeLessThanOrEqual(timersBefore + 2), { timeout: 10_000 });
  await vi.waitFor(
    () => {
      // A connection with a request on it would stay.
      transport.closeIdle();
      expect(backend.sockets.size).toBe(0);
    },
    { timeout: 10_000 },
  );
});

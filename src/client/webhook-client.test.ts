import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestListener } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../serving/certificates/create.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import { WebhookClient, type WebhookClientOptions, WebhookError, withRetries } from './webhook-client.ts';

const authority = createAuthority({ commonName: 'ca' });
const pair = signCertificate(authority, { commonName: 'hook', usages: ['server'], ips: ['127.0.0.1'], hosts: ['hook.example.com'] });
const folder = mkdtempSync(join(tmpdir(), 'binnacle-kubeconfig-'));
const servers: Server[] = [];

afterEach(() => servers.splice(0).forEach((server) => server.close().closeAllConnections()));
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, listener);
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/path?x=1`;
}

/** The beginning, then a little more every now and then, for as long as somebody listens. */
function trickle(socket: Socket, start: string, more = 'x'): void {
  socket.on('error', () => {}).write(start);
  const timer = setInterval(() => socket.destroyed || socket.write(more), 5);
  socket.once('close', () => clearInterval(timer));
}

const clientOf = (url: string, options: WebhookClientOptions = {}, caPem: string | null = authority.certPem): WebhookClient =>
  new WebhookClient({ url: new URL(url), ...(caPem !== null && { caPem }) }, options);

async function failure(call: Promise<unknown>): Promise<WebhookError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebhookError);
  return error as WebhookError;
}

describe('a call', () => {
  test('goes to the exact path, over one connection', async () => {
    const seen: unknown[] = [];
    const ports = new Set<number>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort!);
      seen.push([request.method, request.url, request.headers['content-type']]);
      request.resume().on('end', () => response.end('yes'));
    });
    const client = clientOf(url, { timeoutMs: 5_000 });
    for (let i = 0; i < 3; i++) expect((await client.post('{}')).toString()).toBe('yes');
    client.close();
    expect(seen[0]).toEqual(['POST', '/path?x=1&timeout=5s', 'application/json']);
    expect(ports.size).toBe(1);
  });

  test.each([
    [500, {}, 'an error on the server ("no") has prevented the request from succeeding', true],
    [500, { 'content-type': 'text/plain' }, 'an error on the server ("no") has prevented the request from succeeding', true],
    [500, { 'content-type': 'application/json' }, 'an error on the server ("unknown") has prevented the request from succeeding', true],
    [503, {}, 'the server is currently unable to handle the request', false],
    [503, { 'retry-after': '0' }, 'the server is currently unable to handle the request', true],
    [429, {}, 'the server has received too many requests and has asked us to try again later', true],
    [404, {}, 'the server could not find the requested resource', false],
    [301, { location: 'https://127.0.0.1:1/' }, 'the server answered 301, a redirect to "https://127.0.0.1:1/": redirects are not followed', false],
  ])('that is answered %d %j fails', async (status, headers, message, isTransient) => {
    const client = clientOf(await serve((_, response) => void response.writeHead(status, headers).end('no')));
    expect(await failure(client.post('{}'))).toMatchObject({ message, status, isTransient });
    client.close();
  });

  test('ends in time, and may be broken off', async () => {
    const client = clientOf(await serve(() => {}), { timeoutMs: 50 });
    expect(await failure(client.post('{}'))).toMatchObject({ isTimeout: true, message: expect.stringContaining('context deadline exceeded') });
    expect(await failure(client.post('{}', AbortSignal.abort()))).toMatchObject({ isTimeout: false });
    client.close();
  });

  test('takes no answer without end, and no half one', async () => {
    const endless = clientOf(await serve((_, response) => void response.end('x'.repeat(2_000))), { maxAnswerBytes: 1_000 });
    expect((await failure(endless.post('{}'))).message).toMatch(/the answer is longer than 1000 bytes$/);
    const half = clientOf(await serve((_, response) => void response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy())));
    expect(await failure(half.post('{}'))).toMatchObject({ isTransient: true });
    endless.close();
    half.close();
  });

  test.each<[string, RequestListener]>([
    ['headers byte by byte', (request) => trickle(request.socket, 'HTTP/1.1 200 OK\r\nX-Long: ')],
    ['a body byte by byte', (request) => trickle(request.socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')],
    ['chunks that never end', (request) => trickle(request.socket, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n')],
    ['interim answers without end', (request) => trickle(request.socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['a megabyte of headers', (request) => void request.socket.end(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1_000_000)}\r\n\r\n`)],
    ['an answer that is no HTTP', (request) => void request.socket.end('SSH-2.0-hook\r\n')],
    [
      'a length and chunks',
      (request) => void request.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'),
    ],
    ['another protocol', (request) => void request.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')],
  ])('that is answered with %s fails in its time', async (_, listener) => {
    const client = clientOf(await serve(listener), { timeoutMs: 300 });
    await failure(client.post('{}'));
    client.close();
  });

  test('whose answer comes in chunks of one byte takes the memory of its bytes', async () => {
    const sizeBytes = 2 * 1024 * 1024;
    const piece = Buffer.from('1\r\nx\r\n'.repeat(8192));
    const url = await serve((request) => {
      const { socket } = request;
      let sent = 0;
      const pump = (): void => {
        for (; sent < sizeBytes; sent += 8192) if (!socket.write(piece)) return void (sent += 8192);
        socket.write('0\r\n\r\n');
        socket.off('drain', pump);
      };
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.on('drain', pump);
      pump();
    });
    const client = clientOf(url);
    const before = process.memoryUsage();
    const answer = await client.post('{}');
    expect(answer.length).toBe(sizeBytes);
    // Kept one by one they took 200 bytes each.
    expect((process.memoryUsage().rss - before.rss) / 2 ** 20).toBeLessThan(200);
    client.close();
  }, 60_000);

  test('trusts only the authority that it was given', async () => {
    const url = await serve((_, response) => void response.end('yes'));
    for (const caPem of [createAuthority({ commonName: 'ca' }).certPem, null]) {
      const client = clientOf(url, {}, caPem);
      expect((await failure(client.post('{}'))).message).toMatch(/certificate|issuer/);
      client.close();
    }
    const misnamed = new WebhookClient({ url: new URL(url), caPem: authority.certPem, serverName: 'other.example.com' });
    expect((await failure(misnamed.post('{}'))).message).toMatch(/is valid for hook.example.com, not other.example.com/);
    const named = new WebhookClient({ url: new URL(url), caPem: authority.certPem, serverName: 'hook.example.com' });
    expect((await named.post('{}')).toString()).toBe('yes');
    misnamed.close();
    named.close();
  });
});

test('what may pass is tried again, a few times', async () => {
  const delays: number[] = [];
  const sleep = async (delayMs: number): Promise<void> => void delays.push(delayMs);
  let calls = 0;
  const failing = (isTransient: boolean) => async (): Promise<never> => {
    calls++;
    throw new WebhookError('no', { isTransient });
  };
  await failure(withRetries({ initialDelayMs: 100, tries: 4, sleep }, failing(true)));
  expect(calls).toBe(4);
  expect(delays.map((delay, i) => delay >= 100 * 1.5 ** i && delay <= 120 * 1.5 ** i)).toEqual([true, true, true]);
  await failure(withRetries({ initialDelayMs: 100, tries: 4, sleep }, failing(false)));
  expect(calls).toBe(5);
});

describe('a kubeconfig', () => {
  const write = (cluster: object, user: object, more: object = {}): string => {
    const path = join(folder, 'config');
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://hook.example.com/x', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
      ...more,
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  };

  test('names server, authority and user; paths are relative to it', async () => {
    for (const [name, text] of [
      ['ca.pem', 'CA'],
      ['cert.pem', 'CERT'],
      ['key.pem', 'KEY'],
      ['token', ' secret\n'],
    ] as const)
      writeFileSync(join(folder, name), text);
    const endpoint = await loadKubeconfig(
      write({ 'certificate-authority': 'ca.pem', 'tls-server-name': 'n' }, { 'client-certificate': 'cert.pem', 'client-key': 'key.pem', tokenFile: 'token' }),
    );
    expect(endpoint).toMatchObject({ caPem: 'CA', serverName: 'n', clientCertificate: { certPem: 'CERT', keyPem: 'KEY' } });
    expect(endpoint.url.href).toBe('https://hook.example.com/x');
    expect(await endpoint.authorization!()).toBe('Bearer secret');
    const basic = await loadKubeconfig(write({}, { username: 'a', password: 'b' }));
    expect(await basic.authorization!()).toBe('Basic YTpi');
  });

  test.each<[object, object, object, string]>([
    [{}, {}, { 'current-context': '' }, 'names no current-context'],
    [{}, {}, { 'current-context': 'y' }, 'context "y" does not exist'],
    [{}, {}, { clusters: [] }, 'cluster "c" does not exist'],
    [{ server: 'ftp://x' }, {}, {}, 'server "ftp://x" is no URL of http or https'],
    [{ 'proxy-url': 'http://p' }, {}, {}, 'clusters may not have proxy-url here'],
    [{}, { exec: { command: 'rm' } }, {}, 'users may not have exec here'],
    [{}, { 'client-key-data': 'AA' }, {}, 'client-certificate and client-key must be given together'],
    [
      { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'AA' },
      {},
      {},
      'specifying a root certificates file with the insecure flag is not allowed',
    ],
  ])('%j %j %j is refused', async (cluster, user, more, message) => {
    await expect(loadKubeconfig(write(cluster, user, more))).rejects.toThrow(message);
  });
});

describe('a server that says when to come again', () => {
  const busy = (answers: [status: number, retryAfter?: string][]) => {
    let calls = 0;
    return {
      calls: () => calls,
      url: serve((_request, response) => {
        const [status, retryAfter] = answers[Math.min(calls++, answers.length - 1)]!;
        response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('answer');
      }),
    };
  };

  test.each([
    ['429, then yes', [[429, '0'], [503, '0'], [200]], 3, true],
    ['429 without a time', [[429]], 1, false],
    ['a date', [[503, 'Wed, 21 Oct 2026 07:28:00 GMT']], 1, false],
    ['404 with a time', [[404, '0']], 1, false],
    ['never', [[429, '0']], 11, false],
  ] as [string, [number, string?][], number, boolean][])('%s', async (_what, answers, calls, succeeds) => {
    const server = busy(answers);
    const client = clientOf(await server.url);
    const outcome = await client.post('{}').then(String, (error: WebhookError) => error.status);
    expect(outcome).toBe(succeeds ? 'answer' : answers[0]![0]);
    expect(server.calls()).toBe(calls);
    client.close();
  });

  test('is not waited for beyond the time of a call', async () => {
    const server = busy([[429, '3600']]);
    const client = clientOf(await server.url, { timeoutMs: 300 });
    expect((await failure(client.post('{}'))).isTimeout).toBe(true);
    expect(server.calls()).toBe(1);
    client.close();
  });
});

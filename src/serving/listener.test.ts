import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createAuthority, createSelfSigned, signCertificate } from './certificates/create.ts';
import { type KeyPair, decodePem } from './certificates/pem.ts';
import { type Reloadable, fixed, watchKeyPair } from './certificates/reload.ts';
import { verifyClientChain } from './certificates/verify.ts';
import type { Exchange, ResponseStream } from './exchange.ts';
import type { Listener } from './listener.ts';
import { ListenError } from './port.ts';
import type { ServingProblem } from './limits.ts';
import { Gate, clients, connectRaw, connectSession, readToEnd, requestOn, startListener, testAuthority } from './test-server.ts';
import { resolveTlsFlags } from './tls-options.ts';

let listener: Listener;
afterEach(() => listener.close({ graceMs: 0 }));

const answer = (exchange: Exchange): void => exchange.respond(200, {}, exchange.httpVersion);

const signed = (commonName: string): Reloadable<KeyPair> => fixed(signCertificate(testAuthority, { commonName, usages: ['server'], hosts: [commonName] }));

async function servedName(options: Parameters<typeof connectRaw>[1] = {}): Promise<string> {
  const socket = await connectRaw(listener, options);
  const name = socket.getPeerX509Certificate()!.subject;
  socket.destroy();
  return name;
}

describe('the port', () => {
  test('speaks both versions, or only HTTP/1.1 when told so', async () => {
    listener = await startListener(answer);
    expect((await clients['HTTP/1.1'](listener)).body.toString()).toBe('1.1');
    expect((await clients['HTTP/2'](listener)).body.toString()).toBe('2.0');
    await listener.close({ graceMs: 0 });
    listener = await startListener(answer, { disableHttp2: true });
    const socket = await connectRaw(listener, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
  });

  test('a port that is taken is one clear error', async () => {
    listener = await startListener(answer);
    const { port } = listener.address;
    const error = await startListener(answer, { port }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({
      code: 'EADDRINUSE',
      port,
      message: `failed to create listener: failed to listen on 127.0.0.1:${port}: bind: address already in use`,
    });
  });

  test('an unspecified address serves every family', async () => {
    listener = await startListener((exchange) => exchange.respond(200, {}, exchange.remoteAddress), { host: '0.0.0.0' });
    expect((await clients['HTTP/1.1'](listener)).body.toString()).toBe('127.0.0.1');
  });

  test.skipIf(Number.parseInt(process.versions.node, 10) >= 23)('sharing the port is refused where Node cannot', async () => {
    listener = await startListener(answer);
    await expect(startListener(answer, { permitPortSharing: true })).rejects.toThrow('--permit-port-sharing needs Node 23.1 or newer');
  });

  test('noise instead of TLS is counted, told, and harms no one', async () => {
    const problems: ServingProblem[] = [];
    let handshakeErrors = 0;
    listener = await startListener(answer, { onProblem: (problem) => problems.push(problem), onHandshakeError: () => void handshakeErrors++ });
    const send = (noise: string): Promise<string> =>
      new Promise((resolve) => {
        let answered = '';
        const socket = connectTcp(listener.address.port, '127.0.0.1', () => socket.write(noise, 'latin1'));
        socket.on('data', (chunk: Buffer) => (answered += chunk.toString('latin1')));
        socket.on('error', () => {}).on('close', () => resolve(answered));
      });
    expect(await send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
    expect(await send('\x16\x03\x01\xff\xff\xff')).not.toContain('HTTP');
    expect((await clients['HTTP/2'](listener)).status).toBe(200);
    expect(handshakeErrors).toBe(2);
    expect(problems.every(({ kind }) => kind === 'tls-handshake')).toBe(true);
  });

  test('a handshake that does not come is cut off', async () => {
    listener = await startListener(answer, { limits: { headerTimeoutMs: 30 } });
    await new Promise<void>((resolve) =>
      connectTcp(listener.address.port, '127.0.0.1')
        .on('close', () => resolve())
        .on('error', () => {})
        .resume(),
    );
    await expect.poll(() => listener.openConnections, { interval: 5 }).toBe(0);
  });

  test('versions below the minimum are refused', async () => {
    listener = await startListener(answer, { tls: resolveTlsFlags({ minVersion: 'VersionTLS13' }).settings });
    await expect(connectRaw(listener, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
    (await connectRaw(listener)).destroy();
  });
});

describe('certificates', () => {
  test('SNI picks the certificate: exact, wildcard, by address, or the default', async () => {
    const certificate = fixed(createSelfSigned({ commonName: 'default' }));
    const sni = [
      { certificate: signed('a.example'), names: [] },
      { certificate: signed('wild'), names: ['*.example', '127.0.0.1'] },
    ];
    listener = await startListener(answer, { certificates: { certificate, sni } });
    expect(await servedName({ servername: 'a.example' })).toBe('CN=a.example');
    expect(await servedName({ servername: 'b.example' })).toBe('CN=wild');
    expect(await servedName({ servername: 'elsewhere' })).toMatch(/^CN=default@/);
    expect(await servedName()).toBe('CN=wild');
  });

  test('files that change are served to the next connection; connections that are open stay', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'binnacle-serving-'));
    const write = (name: string): void => {
      const pair = signCertificate(testAuthority, { commonName: name, usages: ['server'] });
      writeFileSync(join(folder, 'tls.crt'), pair.certPem);
      writeFileSync(join(folder, 'tls.key'), pair.keyPem);
    };
    write('before');
    const certificate = watchKeyPair(join(folder, 'tls.crt'), join(folder, 'tls.key'), { settleMs: 1 });
    listener = await startListener(answer, { certificates: { certificate } });
    expect(await servedName()).toBe('CN=before');
    const open = connectSession(listener);
    open.on('error', () => {});
    const changed = new Promise<void>((resolve) => certificate.onChange(resolve));
    write('after');
    await changed;
    expect(await servedName()).toBe('CN=after');
    expect(await servedName({ servername: 'some.name' })).toBe('CN=after');
    open.destroy();
    certificate.close();
    rmSync(folder, { recursive: true });
  });

  test('a client’s chain arrives whole, trusted or not, and verifies', async () => {
    const intermediate = createAuthority({ commonName: 'intermediate', issuer: testAuthority });
    const client = signCertificate(intermediate, { commonName: 'jane', organizations: ['dev'], usages: ['client'] });
    const stranger = createSelfSigned({ commonName: 'stranger' });
    const chains: (readonly Buffer[])[] = [];
    listener = await startListener(
      (exchange) => {
        chains.push(exchange.connection.peerCertificates);
        answer(exchange);
      },
      { certificates: { certificate: fixed(createSelfSigned({ commonName: 'localhost' })), clientCas: [fixed(testAuthority.certPem)] } },
    );
    const ask = (options: { cert?: string; key?: string }): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls({ host: '127.0.0.1', port: listener.address.port, rejectUnauthorized: false, ...options }, () => {
          socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
          resolve(readToEnd(socket));
        });
        socket.on('error', reject);
      });
    expect(await ask({ cert: client.certPem + intermediate.certPem, key: client.keyPem })).toContain('200 OK');
    expect(await ask({ cert: stranger.certPem, key: stranger.keyPem })).toContain('200 OK');
    expect(await ask({})).toContain('200 OK');
    expect(chains[0]!.slice(0, 2)).toEqual([...decodePem('CERTIFICATE', client.certPem), ...decodePem('CERTIFICATE', intermediate.certPem)]);
    expect(verifyClientChain(chains[0]!, [testAuthority.certPem])).toHaveLength(3);
    expect(() => verifyClientChain(chains[1]!, [testAuthority.certPem])).toThrow('unknown authority');
    expect(chains[2]).toEqual([]);
  });
});

describe('closing', () => {
  test('100 open streams: waits for them, then cuts them off', async () => {
    let opened = 0;
    const all = new Gate();
    let isClosed = 0;
    listener = await startListener((exchange) => {
      exchange.startStream(200, {}).write(Buffer.from('x'));
      exchange.onClose(() => isClosed++);
      if (++opened === 110) all.open();
    });
    const session = connectSession(listener);
    for (let i = 0; i < 100; i++) session.request({ ':path': '/' }).on('error', () => {});
    const raw = await Promise.all(Array.from({ length: 10 }, () => connectRaw(listener)));
    for (const socket of raw) socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await all.opened;
    expect(listener.openExchanges).toBe(110);
    await listener.close({ graceMs: 30 });
    expect([isClosed, listener.openExchanges, listener.openConnections]).toEqual([110, 0, 0]);
  });

  test('requests that end in time are answered whole; idle and new connections are gone at once', async () => {
    const open: Exchange[] = [];
    const both = new Gate();
    listener = await startListener((exchange) => void (open.push(exchange) === 2 && both.open()));
    const session = connectSession(listener);
    const idle = readToEnd(await connectRaw(listener));
    const answers = [requestOn(session), clients['HTTP/1.1'](listener)];
    await both.opened;
    const isOver = listener.close({ graceMs: 60_000 });
    await idle;
    await expect(connectRaw(listener)).rejects.toThrow('ECONNREFUSED');
    for (const exchange of open) exchange.respond(200, {}, 'done');
    const [second, first] = await Promise.all(answers);
    expect([first!.body.toString(), first!.headers.connection, second!.body.toString()]).toEqual(['done', 'close', 'done']);
    await isOver;
    await listener.close({ graceMs: 0 });
  });

  test('a stream over HTTP/1.1 that ends while closing takes its connection along', async () => {
    const opened = new Gate();
    let stream: ResponseStream | undefined;
    listener = await startListener((exchange) => {
      stream = exchange.startStream(200, {});
      opened.open();
    });
    const socket = await connectRaw(listener);
    const text = readToEnd(socket);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await opened.opened;
    const isOver = listener.close({ graceMs: 60_000 });
    stream!.end();
    expect(await text).toMatch(/0\r\n\r\n$/);
    await isOver;
  });
});

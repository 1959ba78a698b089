import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type DetailedPeerCertificate, type TLSSocket, connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type Authority, createAuthority, signCertificate } from '../src/serving/certificates/create.ts';
import { ApiClient, type TestList, type WatchReader } from './support/api-client.ts';
import { Http2Client, endOf } from './support/http2-client.ts';
import { TOKENS_FILE } from './support/paths.ts';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const WATCH = `${CONFIG_MAPS}?watch=true`;
const CLEAN_EXIT = { code: 0, signal: null };

const http2Client = (server: ServerProcess): Http2Client => new Http2Client({ port: server.port, ca: server.ca, token: 'admin-token' });

/** Asks until the answer is as wanted; what it waits for is under way, and the test's own timeout bounds it. */
async function until(client: ApiClient, path: string, status: number): Promise<void> {
  while ((await client.send({ path })).status !== status);
}

describe('SIGTERM', () => {
  test('with 100 open watches over both versions of HTTP: all end properly, exit 0, within a second', async () => {
    const server = await startServer();
    const http1 = server.client();
    const http2 = http2Client(server);
    const watches: WatchReader[] = await Promise.all(Array.from({ length: 50 }, () => http1.watch(WATCH)));
    const streams = await Promise.all(Array.from({ length: 50 }, () => http2.open(WATCH)));
    const ends = [...watches.map(({ ended }) => ended), ...streams.map(({ stream }) => endOf(stream))];
    const startedAt = performance.now();
    expect(await server.stop()).toEqual(CLEAN_EXIT);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(await Promise.all(ends)).toEqual(Array.from({ length: 100 }, () => true));
    expect(server.lines.filter((line) => line.startsWith('E'))).toEqual([]);
  });

  test('readyz fails during the delay, while requests and new connections are still served', async () => {
    const delayMs = 1000;
    const server = await startServer({ flags: [`--shutdown-delay-duration=${delayMs}ms`] });
    const client = server.client();
    const watch = await client.watch(WATCH);
    expect((await client.send({ path: '/readyz' })).text).toBe('ok');
    const startedAt = performance.now();
    server.signal('SIGTERM');
    await until(client, '/readyz', 500);
    expect((await client.send({ path: '/readyz' })).text).toContain('[-]shutdown failed: reason withheld');
    expect((await client.send({ path: '/livez' })).status).toBe(200);
    const created = await server.client().create(CONFIG_MAPS, { metadata: { name: 'late' } });
    expect((await watch.next())?.object.metadata.uid).toBe(created.metadata.uid);
    expect(await server.exited).toEqual(CLEAN_EXIT);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(delayMs - 10);
    // Nobody waits for the watch, which may be open for an hour; how long the rest takes is the machine's affair.
    expect(tookMs).toBeLessThan(delayMs + 20_000);
    expect(await watch.ended).toBe(true);
  });

  test('--shutdown-send-retry-after: new requests are sent elsewhere while the last ones drain', async () => {
    const server = await startServer({ flags: ['--shutdown-send-retry-after', '--shutdown-watch-termination-grace-period=4s'] });
    const client = server.client();
    // Watches end one by one over the grace period: the drain lasts while the later ones are open.
    const watches = await Promise.all(Array.from({ length: 40 }, () => client.watch(WATCH)));
    server.signal('SIGTERM');
    await until(client, '/version', 429);
    const refused = await client.send({ path: CONFIG_MAPS });
    expect([refused.status, refused.headers['retry-after'], refused.headers.connection]).toEqual([429, '5', 'close']);
    expect(refused.text).toContain('The apiserver is shutting down, please try again later.');
    expect((await client.send({ path: '/livez' })).status).toBe(200);
    expect(await server.exited).toEqual(CLEAN_EXIT);
    expect(await Promise.all(watches.map(({ ended }) => ended))).not.toContain(false);
  });

  test('a second one exits with 1 at once', async () => {
    const server = await startServer({ flags: ['--shutdown-delay-duration=1h'] });
    const client = server.client();
    server.signal('SIGTERM');
    await until(client, '/readyz', 500);
    server.signal('SIGINT');
    expect(await server.exited).toEqual({ code: 1, signal: null });
  });
});

describe('TLS', () => {
  test('HTTP/1.1 and HTTP/2 on one port, as the client asks', async () => {
    const server = await startServer();
    const answers = [await server.client().send({ path: '/version' }), await http2Client(server).send('/version')];
    for (const answer of answers) expect([answer.status, answer.json<{ major: string }>().major]).toEqual([200, '1']);
    const spoken = async (...offered: string[]): Promise<string | false | null> => {
      const socket = await connect(server.port, { ALPNProtocols: offered });
      return socket.alpnProtocol;
    };
    expect(await spoken('h2', 'http/1.1')).toBe('h2');
    expect(await spoken('http/1.1')).toBe('http/1.1');
    await server.stop();
  });

  test('a certificate of its own, made once in --cert-dir', async () => {
    const certDir = join(temporaryFolder(), 'certs');
    const first = await startServer({ flags: [`--cert-dir=${certDir}`] });
    const pair = (): string => readFileSync(join(certDir, 'apiserver.crt'), 'utf8') + readFileSync(join(certDir, 'apiserver.key'), 'utf8');
    const made = pair();
    const socket = await connect(first.port, { ca: readFileSync(join(certDir, 'apiserver.crt')), rejectUnauthorized: true });
    expect(socket.authorized).toBe(true);
    await first.stop();
    await (await startServer({ flags: [`--cert-dir=${certDir}`] })).stop();
    expect(pair()).toBe(made);
  });

  test('SNI chooses the certificate, and changed files are served without a restart', async () => {
    const authority = createAuthority({ commonName: 'test-ca' });
    const folder = temporaryFolder();
    const main = pairIn(folder, 'main', authority, 'main-1', 'api.example');
    const other = pairIn(folder, 'other', authority, 'other-1', 'other.example');
    const server = await startServer({
      flags: [`--tls-cert-file=${main.certFile}`, `--tls-private-key-file=${main.keyFile}`, `--tls-sni-cert-key=${other.certFile},${other.keyFile}`],
    });
    expect(await nameServed(server.port, 'api.example')).toBe('main-1');
    expect(await nameServed(server.port, 'other.example')).toBe('other-1');
    pairIn(folder, 'main', authority, 'main-2', 'api.example');
    pairIn(folder, 'other', authority, 'other-2', 'other.example');
    while ((await nameServed(server.port, 'api.example')) !== 'main-2');
    while ((await nameServed(server.port, 'other.example')) !== 'other-2');
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('a client certificate names the user; another authority is not trusted', async () => {
    const authority = createAuthority({ commonName: 'client-ca' });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'ca.crt'), authority.certPem);
    const server = await startServer({ flags: [`--client-ca-file=${join(folder, 'ca.crt')}`] });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const whoIs = async (signer: Authority): Promise<{ status: number; text: string }> => {
      const { certPem, keyPem } = signCertificate(signer, { commonName: 'carol', organizations: ['sailors'], usages: ['client'] });
      const client = new ApiClient({ port: server.port, ca: server.ca, cert: certPem, key: keyPem });
      return client.send({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: review });
    };
    const known = await whoIs(authority);
    expect(known.status).toBe(201);
    expect(JSON.parse(known.text)).toMatchObject({ status: { userInfo: { username: 'carol', groups: ['sailors', 'system:authenticated'] } } });
    expect((await whoIs(createAuthority({ commonName: 'client-ca' }))).status).toBe(401);
    await server.stop();
  });
});

/** The whole of what the command said, but for warnings. */
async function failureOf(...flags: string[]): Promise<{ code: number | null; lines: string[] }> {
  const dataDir = temporaryFolder();
  const run = new CommandProcess([
    'serve',
    `--data-dir=${dataDir}`,
    `--token-auth-file=${TOKENS_FILE}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...flags,
  ]);
  const { code } = await run.exited;
  // Beside warnings, and the line that every log begins with.
  return { code, lines: run.lines.filter((line) => !/^W\d{4}|^I.*\] Version: /.test(line)) };
}

describe('what cannot be is said in one line, with exit 1', () => {
  test('a port that is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    expect(await failureOf(`--secure-port=${port}`)).toEqual({
      code: 1,
      lines: [`error: port ${port} on 127.0.0.1 is taken: stop what listens there, or choose another with --secure-port (0 for any free one)`],
    });
    holder.close();
  });

  test('a store that another server has', async () => {
    const server = await startServer({ storage: 'embedded' });
    const { code, lines } = await failureOf(`--data-dir=${server.dataDir}`);
    const store = join(server.dataDir, 'store');
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [`error: the folder ${store} is in use by another server (process ${server.child.pid}); stop that one first, or choose another folder`],
    });
    await server.stop();
  });

  test.each([
    ['an unknown flag', ['--secure-prot=1'], /^error: unknown flag: --secure-prot.*--secure-port/],
    ['a flag that is like no other', ['--nope'], /^error: unknown flag: --nope; `binnacle help serve` lists all flags$/],
    ['a bad value', ['--shutdown-delay-duration=soon'], /^error: invalid argument "soon" for "--shutdown-delay-duration" flag/],
    ['a value out of range', ['--secure-port=70000'], /^error: --secure-port 70000 must be between/],
    [
      'a key of tokens that is not there',
      ['--service-account-issuer=https://x', '--service-account-signing-key-file=/no/such/key', '--service-account-key-file=/no/such/key'],
      /^error: .*\/no\/such\/key/,
    ],
    ['a file that is not there', ['--client-ca-file=/no/such/file'], /^error: .*\/no\/such\/file.*no such file/],
    [
      'an address that the machine has not',
      ['--bind-address=192.0.2.1'],
      /^error: this machine has no address 192\.0\.2\.1: choose another with --bind-address$/,
    ],
    ['a word too many', ['extra'], /^error: "binnacle serve" does not take any arguments, got \["extra"\]$/],
  ])('%s', async (_name, flags, message) => {
    const { code, lines } = await failureOf(...flags);
    expect({ code, count: lines.length }).toEqual({ code: 1, count: 1 });
    expect(lines[0]).toMatch(message);
  });

  test('an HTTP/1 server in the place of etcd', async () => {
    const other = createHttpServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const folder = temporaryFolder();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = join(folder, 'sa.key');
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const issuer = ['--service-account-issuer=https://x', `--service-account-signing-key-file=${key}`, `--service-account-key-file=${key}`];
    const port = (other.address() as AddressInfo).port;
    const { code, lines } = await failureOf('--storage-backend=etcd3', `--etcd-servers=http://127.0.0.1:${port}`, `--cert-dir=${folder}`, ...issuer);
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^error: etcd cannot be reached at http:\/\/127\.0\.0\.1:\d+: an HTTP\/1 server answers there, which etcd is not/)],
    });
    other.close();
  });

  test('a certificate file that is none', async () => {
    const file = join(temporaryFolder(), 'ca.crt');
    writeFileSync(file, 'nonsense');
    const { code, lines } = await failureOf(`--client-ca-file=${file}`);
    expect({ code, count: lines.length }).toEqual({ code: 1, count: 1 });
    expect(lines[0]).toContain(file);
  });

  test.skipIf(process.getuid?.() !== 0)('a data folder that may not be written', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    const nobody = 65_534;
    const run = new CommandProcess(['serve', `--data-dir=${join(folder, 'data')}`, '--secure-port=0', '--bind-address=127.0.0.1'], { uid: nobody, cwd: '/' });
    expect((await run.exited).code).toBe(1);
    const lines = run.lines.filter((line) => !/^W\d{4}|^I.*\] Version: /.test(line));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(folder);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });
});

test('--data-dir is made, with the folders above it, when nothing else is kept there', async () => {
  const dataDir = join(temporaryFolder(), 'some', 'where');
  const certDir = temporaryFolder();
  const server = new CommandProcess(['serve', `--data-dir=${dataDir}`, `--cert-dir=${certDir}`, '--secure-port=0', '--bind-address=127.0.0.1']);
  await server.line(/Serving url=/);
  expect(existsSync(join(dataDir, 'store', 'data.mdb'))).toBe(true);
  expect(await server.stop()).toEqual(CLEAN_EXIT);
});

test('a restart on the embedded store shows the same objects and the same certificate', async () => {
  const first = await startServer({ storage: 'embedded' });
  const { ca, dataDir, port } = first;
  await first.client().create(CONFIG_MAPS, { metadata: { name: 'kept' } });
  const before = await first.client().get<TestList>(CONFIG_MAPS);
  expect(await first.stop()).toEqual(CLEAN_EXIT);
  const second = await startServer({ storage: 'embedded', dataDir, port });
  expect(second.ca).toBe(ca);
  expect((await second.client().get<TestList>(CONFIG_MAPS)).items).toEqual(before.items);
  await second.stop();
});

function connect(port: number, options: { servername?: string; ALPNProtocols?: string[]; ca?: Buffer; rejectUnauthorized?: boolean } = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      socket.destroy();
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

async function nameServed(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, servername, rejectUnauthorized: false }, () => {
      const certificate: DetailedPeerCertificate = socket.getPeerCertificate(true);
      socket.destroy();
      resolve(String(certificate.subject.CN));
    });
    socket.on('error', reject);
  });
}

/** Puts a pair beside the old one and moves it over, as rotation does. */
function pairIn(folder: string, name: string, authority: Authority, commonName: string, host: string): { certFile: string; keyFile: string } {
  const { certPem, keyPem } = signCertificate(authority, { commonName, usages: ['server'], hosts: [host] });
  const files = { certFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
  for (const [file, text] of [
    [files.keyFile, keyPem],
    [files.certFile, certPem],
  ] as const) {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
  return files;
}

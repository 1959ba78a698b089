import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Authority, createAuthority, signCertificate } from '../src/serving/certificates/create.ts';
import { openEtcdEngine } from '../src/storage/engines/etcd/engine.ts';
import { TestClient } from '../src/storage/etcd-server/test-client.ts';
import type { TestList } from './support/api-client.ts';
import { startServerOnEtcd } from './support/etcd-server.ts';
import { CommandProcess, temporaryFolder } from './support/server.ts';

/* `binnacle store`, as a process. What it answers is tested beside its source, src/storage/etcd-server. */

const CLEAN_EXIT = { code: 0, signal: null };
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

class StoreProcess extends CommandProcess {
  url = '';

  static async start(dataDir: string, flags: readonly string[] = ['--listen-client-urls=http://127.0.0.1:0']): Promise<StoreProcess> {
    const store = new StoreProcess(['store', `--data-dir=${dataDir}`, ...flags]);
    store.url = (await store.line(/^etcd's API is served at ([^,]+)/))[1]!;
    return store;
  }
}

const page = (url: string, path: string): Promise<{ status: number; body: unknown }> =>
  new Promise((resolve, reject) => {
    get(new URL(path, url), (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }));
    }).on('error', reject);
  });

describe('binnacle store', () => {
  test('serves keys, health and version, ends with SIGTERM, and has all of it again', async () => {
    const dataDir = temporaryFolder();
    const store = await StoreProcess.start(dataDir);
    expect(await page(store.url, '/health')).toEqual({ status: 200, body: { health: 'true', reason: '' } });
    expect(await page(store.url, '/version')).toEqual({ status: 200, body: { etcdserver: expect.stringMatching(/^3\.5\.\d+$/), etcdcluster: '3.5.0' } });
    expect((await page(store.url, '/nothing')).status).toBe(404);
    const client = new TestClient(store.url);
    await client.put('/a', 'x');
    const watch = client.call('Watch/Watch');
    watch.send({ 1: { 1: '/a' } });
    await watch.next();
    expect(await store.stop()).toEqual(CLEAN_EXIT);
    client.close();
    const again = await StoreProcess.start(dataDir);
    const other = new TestClient(again.url);
    expect((await other.range('/a', '')).lines(2)).toEqual(['/a=x 2/2/1']);
    other.close();
    expect(await again.stop()).toEqual(CLEAN_EXIT);
  });

  test('a second one on the same folder is told who has it, in one line', async () => {
    const dataDir = temporaryFolder();
    const store = await StoreProcess.start(dataDir);
    const second = new CommandProcess(['store', `--data-dir=${dataDir}`, '--listen-client-urls=http://127.0.0.1:0']);
    expect((await second.exited).code).toBe(1);
    expect(second.lines).toEqual([
      expect.stringMatching(new RegExp(`^error: the folder .*/store is in use by another server \\(process ${store.child.pid}\\)`)),
    ]);
    await store.stop();
  });

  test.each<[string, string[], RegExp]>([
    ['a flag that is none', ['--listen=x'], /^error: Unknown option '--listen'/],
    ['an argument', ['now'], /^error: "binnacle store" takes flags only, got "now"$/],
    ['a number that is none', ['--max-request-bytes=many'], /^error: --max-request-bytes takes a number of bytes, not "many"$/],
    ['no number', ['--history-bytes=0'], /^error: --history-bytes takes a number of bytes, not "0"$/],
    ['an address that is none', ['--listen-client-urls=localhost'], /^error: "localhost" is no address to listen on: one looks like /],
    ['a port that is none', ['--listen-client-urls=http://127.0.0.1:99999'], /^error: "http:\/\/127.0.0.1:99999" is no address to listen on/],
    ['an address that is not ours', ['--listen-client-urls=http://127.0.0.1:0,http://192.0.2.1:1'], /^error: cannot listen on http:\/\/192\.0\.2\.1:1: /],
    ['TLS without a certificate', ['--listen-client-urls=https://127.0.0.1:0'], /^error: https:\/\/127.0.0.1:0 needs --cert-file and --key-file$/],
    ['half a certificate', ['--cert-file=/x'], /^error: --cert-file and --key-file belong together/],
    ['a certificate that is not there', ['--cert-file=/x', '--key-file=/y'], /^error: --cert-file: ENOENT/],
    [
      'an authority that is none',
      ['--trusted-ca-file=/dev/null', '--cert-file=/dev/null', '--key-file=/dev/null'],
      /^error: --trusted-ca-file: missing content for CA bundle /,
    ],
    ['nobody to trust', ['--client-cert-auth', '--cert-file=/dev/null', '--key-file=/dev/null'], /^error: --client-cert-auth needs --trusted-ca-file/],
  ])('%s is refused in one line', async (_, flags, message) => {
    const store = new CommandProcess(['store', `--data-dir=${temporaryFolder()}`, ...flags]);
    expect((await store.exited).code).not.toBe(0);
    expect(store.lines).toHaveLength(1);
    expect(store.lines[0]).toMatch(message);
  });

  test('a file is not taken for a socket that was left behind; such a socket is', async () => {
    const dataDir = temporaryFolder();
    const file = join(dataDir, 'precious');
    writeFileSync(file, 'precious');
    const refused = new CommandProcess(['store', `--data-dir=${dataDir}`, `--listen-client-urls=unix://${file}`]);
    await refused.exited;
    expect(refused.lines).toEqual([expect.stringContaining(`error: cannot listen on unix://${file}`)]);
    const flags = [`--listen-client-urls=unix://${join(dataDir, 'store.sock')}`];
    await (await StoreProcess.start(dataDir, flags)).kill();
    const store = await StoreProcess.start(dataDir, flags);
    const thief = new CommandProcess(['store', `--data-dir=${temporaryFolder()}`, ...flags]);
    await thief.exited;
    expect(thief.lines).toEqual([expect.stringContaining('address already in use')]);
    const client = new TestClient(store.url);
    await client.put('/a', 'x');
    client.close();
    expect(await store.stop()).toEqual(CLEAN_EXIT);
  });
});

describe('killed in the middle of writes', () => {
  test('nothing acknowledged is lost, and no revision is given twice', async () => {
    const dataDir = temporaryFolder();
    const acknowledged = new Map<string, number>();
    const givenTo = new Map<number, string>();
    for (let round = 0; round < 5; round++) {
      const store = await StoreProcess.start(dataDir);
      const client = new TestClient(store.url);
      const found = (await client.range('\0', '\0')).messages(2);
      const revisions = new Map(found.map((item) => [item.text(1), item.number(3)]));
      for (const [key, revision] of acknowledged) expect(revisions.get(key)).toBe(revision);
      let count = 0;
      const write = async (): Promise<void> => {
        for (;;) {
          const key = `/${round}/${count++}`;
          const answer = await client.put(key, key.repeat(20)).catch(() => undefined);
          if (!answer) return;
          expect(givenTo.get(answer.revision)).toBeUndefined();
          givenTo.set(answer.revision, key);
          acknowledged.set(key, answer.revision);
        }
      };
      const writers = Array.from({ length: 16 }, write);
      await vi.waitFor(() => expect(count).toBeGreaterThan(150 + 50 * round), { timeout: 20_000, interval: 1 });
      await store.kill();
      await Promise.all(writers);
      client.close();
    }
    expect(acknowledged.size).toBeGreaterThan(700);
  });
});

describe('TLS', () => {
  const folder = temporaryFolder();
  const kept = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const root = createAuthority({ commonName: 'root' });
  const intermediate = createAuthority({ commonName: 'intermediate', issuer: root });
  const server = signCertificate(root, { commonName: 'store', ips: ['127.0.0.1'], usages: ['server'] });
  const ours = signCertificate(intermediate, { commonName: 'ours', usages: ['client'] });
  const stranger = signCertificate(createAuthority({ commonName: 'other' }), { commonName: 'stranger', usages: ['client'] });
  const withChain = { cert: ours.certPem + (intermediate as Authority).certPem, key: ours.keyPem };

  /** Whether a client with this certificate is let in. */
  async function isLetIn(url: string, tls: { ca?: string; cert?: string; key?: string }): Promise<boolean> {
    const client = new TestClient(url, { ca: root.certPem, ...tls });
    const gone = new Promise<false>((resolve) => client.session.once('close', () => resolve(false)));
    const answered = client.put('/a', 'x').then(
      () => true,
      () => false,
    );
    const isAnswered = await Promise.race([answered, gone]);
    client.close();
    return isAnswered;
  }

  test.each([
    ['root', root.certPem, withChain],
    ['intermediate', intermediate.certPem, { cert: ours.certPem, key: ours.keyPem }],
    ['leaf', ours.certPem, { cert: ours.certPem, key: ours.keyPem }],
  ])('clients are known by their certificates: the file has the %s', async (name, ca, client) => {
    const store = await StoreProcess.start(temporaryFolder(), [
      '--listen-client-urls=https://127.0.0.1:0',
      `--cert-file=${kept('server.crt', server.certPem)}`,
      `--key-file=${kept('server.key', server.keyPem)}`,
      `--trusted-ca-file=${kept(`${name}.crt`, ca)}`,
      ...(name === 'leaf' ? [] : ['--client-cert-auth']),
    ]);
    expect(await isLetIn(store.url, client)).toBe(true);
    expect(await isLetIn(store.url, {})).toBe(false);
    expect(await isLetIn(store.url, { cert: stranger.certPem, key: stranger.keyPem })).toBe(false);
    const engine = await openEtcdEngine({ endpoints: [store.url], tls: { ca: root.certPem, ...client } });
    expect((await engine.get('/a'))!.value.toString()).toBe('x');
    await engine.close();
    expect(await store.stop()).toEqual(CLEAN_EXIT);
  });

  test('files that change count for whoever connects next; ones that cannot be used do not', async () => {
    const [certFile, keyFile] = [kept('changing.crt', server.certPem), kept('changing.key', server.keyPem)];
    const caFile = kept('changing-ca.crt', root.certPem);
    const store = await StoreProcess.start(temporaryFolder(), [
      '--listen-client-urls=https://127.0.0.1:0',
      `--cert-file=${certFile}`,
      `--key-file=${keyFile}`,
      `--trusted-ca-file=${caFile}`,
    ]);
    const open = new TestClient(store.url, { ca: root.certPem, ...withChain });
    await open.put('/a', 'x');
    const otherRoot = createAuthority({ commonName: 'other root' });
    const renewed = signCertificate(otherRoot, { commonName: 'store', ips: ['127.0.0.1'], usages: ['server'] });
    writeFileSync(certFile, 'no certificate');
    await store.line(/certificates that changed cannot be used, the old ones stay/);
    expect(await isLetIn(store.url, withChain)).toBe(true);
    writeFileSync(keyFile, renewed.keyPem);
    writeFileSync(certFile, renewed.certPem);
    await vi.waitFor(async () => expect(await isLetIn(store.url, { ca: otherRoot.certPem, ...withChain })).toBe(true), { timeout: 20_000 });
    expect(await isLetIn(store.url, withChain)).toBe(false);
    const theirs = signCertificate(otherRoot, { commonName: 'theirs', usages: ['client'] });
    writeFileSync(caFile, otherRoot.certPem);
    const client = { ca: otherRoot.certPem, cert: theirs.certPem, key: theirs.keyPem };
    await vi.waitFor(async () => expect(await isLetIn(store.url, client)).toBe(true), { timeout: 20_000 });
    expect(await isLetIn(store.url, { ca: otherRoot.certPem, ...withChain })).toBe(false);
    // Whoever was let in stays.
    await open.put('/a', 'y');
    open.close();
    expect(await store.stop()).toEqual(CLEAN_EXIT);
  });

  test('without --client-cert-auth anybody is, who trusts the server', async () => {
    const store = await StoreProcess.start(temporaryFolder(), [
      '--listen-client-urls=https://127.0.0.1:0',
      `--cert-file=${kept('server.crt', server.certPem)}`,
      `--key-file=${kept('server.key', server.keyPem)}`,
    ]);
    expect(await isLetIn(store.url, {})).toBe(true);
    await expect(openEtcdEngine({ endpoints: [store.url], tls: {} })).rejects.toThrow('x509: certificate signed by unknown authority');
    expect(await store.stop()).toEqual(CLEAN_EXIT);
  });
});

describe('binnacle serve on it', () => {
  test('two servers see what each other writes, through a Unix socket, and go on when it is killed and started again', async () => {
    const dataDir = temporaryFolder();
    const flags = [`--listen-client-urls=unix://${join(dataDir, 'store.sock')}`];
    const store = await StoreProcess.start(dataDir, flags);
    const [one, other] = await Promise.all([startServerOnEtcd([store.url]), startServerOnEtcd([store.url])]);
    const [client, otherClient] = [one.client(), other.client()];
    for (let i = 0; i < 10; i++) {
      await client.create(CONFIG_MAPS, { metadata: { name: `a-${i}` } });
      expect((await otherClient.get<{ metadata: { name: string } }>(`${CONFIG_MAPS}/a-${i}`)).metadata.name).toBe(`a-${i}`);
      await otherClient.create(CONFIG_MAPS, { metadata: { name: `b-${i}` } });
      expect((await client.get<TestList>(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name)).toContain(`b-${i}`);
    }
    await store.kill();
    await vi.waitFor(async () => expect((await client.send({ path: '/readyz' })).status).toBe(500), { timeout: 15_000 });
    const again = await StoreProcess.start(dataDir, flags);
    for (const server of [client, otherClient])
      await vi.waitFor(async () => expect((await server.send({ path: '/readyz' })).status).toBe(200), { timeout: 30_000 });
    await client.create(CONFIG_MAPS, { metadata: { name: 'after' } });
    expect((await otherClient.get<TestList>(CONFIG_MAPS)).items.filter(({ metadata }) => /^[ab]-|^after$/.test(metadata.name))).toHaveLength(21);
    expect(await Promise.all([one.stop(), other.stop()])).toEqual([CLEAN_EXIT, CLEAN_EXIT]);
    expect(await again.stop()).toEqual(CLEAN_EXIT);
  });
});

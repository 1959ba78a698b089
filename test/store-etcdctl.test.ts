import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../src/storage/etcd-server/test-client.ts';
import { startEtcd, hasEtcd } from './support/etcd.ts';
import { findEtcdctl } from './support/find-etcd.ts';
import { CommandProcess, temporaryFolder } from './support/server.ts';

/* `binnacle store` as etcd's own client sees it, and its snapshots as etcd does. */

const run = promisify(execFile);
const hasEtcdctl = findEtcdctl() !== undefined || Boolean(process.env['CI']);
const CLEAN_EXIT = { code: 0, signal: null };
/** Older ones speak etcd's second API otherwise. */
const env = { ...process.env, ETCDCTL_API: '3' };

const etcdctl = async (url: string, ...args: string[]): Promise<string> => (await run(findEtcdctl()!, ['--endpoints', url, ...args], { env })).stdout;
const refusalOf = async (url: string, ...args: string[]): Promise<string> =>
  etcdctl(url, ...args).then(
    (text) => expect.fail(`it was answered: ${text}`),
    (error: { stderr: string }) => error.stderr,
  );

describe.runIf(hasEtcdctl)('etcdctl', () => {
  let store: CommandProcess;
  let url: string;
  beforeAll(async () => {
    store = new CommandProcess(['store', `--data-dir=${temporaryFolder()}`, '--listen-client-urls=http://127.0.0.1:0']);
    url = (await store.line(/^etcd's API is served at (\S+)/))[1]!;
  });
  afterAll(async () => expect(await store.stop()).toEqual(CLEAN_EXIT));

  test('puts, gets, removes', async () => {
    expect(await etcdctl(url, 'put', '/a', 'one')).toBe('OK\n');
    expect(await etcdctl(url, 'put', '--prev-kv', '/a', 'two')).toBe('OK\n/a\none\n');
    expect(await etcdctl(url, 'get', '/a')).toBe('/a\ntwo\n');
    expect(await etcdctl(url, 'get', '--prefix', '--keys-only', '/')).toBe('/a\n\n');
    expect(await etcdctl(url, 'del', '/a')).toBe('1\n');
    expect(await etcdctl(url, 'get', '/a')).toBe('');
  });

  test('watches', async () => {
    const child = spawn(findEtcdctl()!, ['--endpoints', url, 'watch', '--prev-kv', '/watched', '--rev=1'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await etcdctl(url, 'put', '/watched', 'one');
    await etcdctl(url, 'put', '/watched', 'two');
    await etcdctl(url, 'del', '/watched');
    const seen: string[] = [];
    for (const _ of Array.from({ length: 13 })) seen.push((await lines.next()).value as string);
    child.kill();
    expect(seen.join(' ')).toBe('PUT /watched one PUT /watched one /watched two DELETE /watched two /watched ');
  });

  test('grants, keeps and revokes leases', async () => {
    const id = /^lease (\w+) granted/.exec(await etcdctl(url, 'lease', 'grant', '600'))![1]!;
    await etcdctl(url, 'put', `--lease=${id}`, '/leased', 'x');
    expect(await etcdctl(url, 'lease', 'timetolive', '--keys', id)).toMatch(
      /granted with TTL\(600s\), remaining\((600|599|598)s\), attached keys\(\[\/leased\]\)/,
    );
    expect(await etcdctl(url, 'lease', 'keep-alive', '--once', id)).toContain('TTL(600)');
    expect(await etcdctl(url, 'lease', 'list')).toContain(id);
    await etcdctl(url, 'lease', 'revoke', id);
    expect(await etcdctl(url, 'get', '/leased')).toBe('');
  });

  test('asks for status, members and health; compacts and defragments', async () => {
    expect(await etcdctl(url, 'endpoint', 'status')).toMatch(/^http:\S+, b144ac1e01, 3\.5\.\d+, /);
    expect(await etcdctl(url, 'member', 'list')).toContain('b144ac1e01, started, binnacle, ');
    expect(await etcdctl(url, 'endpoint', 'health').catch((error) => error.stderr)).toBeDefined();
    expect(await etcdctl(url, 'defrag')).toContain('Finished defragmenting');
    const { header } = JSON.parse(await etcdctl(url, 'put', '/compacted', 'x', '-w=json')) as { header: { revision: number } };
    expect(await etcdctl(url, 'compaction', String(header.revision))).toBe(`compacted revision ${header.revision}\n`);
    expect(await refusalOf(url, 'get', '--rev=2', '/a')).toContain('required revision has been compacted');
  });

  test('is refused what there is not', async () => {
    expect(await refusalOf(url, 'user', 'add', 'me:secret')).toContain('unknown method /etcdserverpb.Auth/UserAdd');
    expect(await refusalOf(url, 'member', 'add', 'x', '--peer-urls=http://127.0.0.1:1')).toContain('unknown method /etcdserverpb.Cluster/MemberAdd');
  });

  test.runIf(hasEtcd())('saves a snapshot, of which etcd is restored with every key, revision, version and lease', async () => {
    const client = new TestClient(url);
    await client.ask('Lease/LeaseGrant', { 1: 600, 2: 4711 });
    for (let i = 0; i < 300; i++) await client.put(`/many/${i % 200}`, `${i}-${'x'.repeat(i * 20)}`, i % 50 === 0 ? { 3: 4711 } : {});
    await client.put('/large', 'y'.repeat(1_400_000));
    await client.ask('KV/DeleteRange', { 1: '/many/199' });
    const stored = await client.range('\0', '\0');
    client.close();

    const folder = temporaryFolder();
    const file = join(folder, 'snapshot.db');
    expect(await etcdctl(url, 'snapshot', 'save', file)).toContain('Snapshot saved');
    const status = JSON.parse(await etcdctl(url, 'snapshot', 'status', file, '-w=json')) as { revision: number; totalKey: number };
    expect(status.revision).toBe(stored.revision);

    const dataDir = join(folder, 'restored');
    const peer = 'http://127.0.0.1:1';
    await etcdctl(
      url,
      'snapshot',
      'restore',
      file,
      `--data-dir=${dataDir}`,
      '--name=m0',
      `--initial-cluster=m0=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
    );
    const cluster = await startEtcd({ args: [`--data-dir=${dataDir}`] });
    const other = new TestClient(cluster.endpoints[0]!);
    const restored = await other.range('\0', '\0');
    expect(restored.lines(2)).toEqual(stored.lines(2));
    expect(restored.revision).toBe(stored.revision);
    const lease = await other.ask('Lease/LeaseTimeToLive', { 1: 4711, 2: true });
    expect(lease.texts(5).toSorted()).toEqual(
      stored
        .messages(2)
        .filter((item) => item.number(6) === 4711)
        .map((item) => item.text(1))
        .toSorted(),
    );
    expect((await other.put('/after', 'x')).revision).toBe(stored.revision + 1);
    other.close();
  });
});

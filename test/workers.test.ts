import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from './support/aggregation.ts';
import type { ApiClient, TestList } from './support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';
import { workerPids } from './support/workers.ts';

/* `--workers`: several processes on one store and one port, as clients see them, which are many: each connection may be another worker's. */

const WORKERS = 2;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const CLEAN_EXIT = { code: 0, signal: null };

const startWorkers = (...flags: string[]): Promise<ServerProcess> => startServer({ storage: 'embedded', flags: [`--workers=${WORKERS}`, ...flags] });

/** Connections are dealt out in turn: these reach every worker. */
const clientsOf = (server: ServerProcess, user: 'admin' | 'bob' = 'admin'): ApiClient[] => Array.from({ length: 2 * WORKERS }, () => server.client(user));

async function metricsOf(server: ServerProcess, family: string): Promise<Map<string, number>> {
  const { text } = await server.client().expect(200, { path: '/metrics' });
  const lines = text.split('\n').filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const total = (series: ReadonlyMap<string, number>): number => [...series.values()].reduce((sum, value) => sum + value, 0);

describe('workers', { timeout: 120_000 }, () => {
  test('see each other’s writes at once, and count as one server', async () => {
    const server = await startWorkers();
    const clients = clientsOf(server);
    const [first] = clients as [ApiClient, ...ApiClient[]];
    for (let round = 0; round < 20; round++) {
      await first.create(CONFIG_MAPS, { metadata: { name: `round-${round}` } });
      const seen = await Promise.all(clients.map((client) => client.send({ path: `${CONFIG_MAPS}/round-${round}` })));
      expect(seen.map(({ status }) => status)).toEqual(clients.map(() => 200));
    }
    const answered = await metricsOf(server, 'binnacle_worker_requests_total');
    expect([...answered.values()].every((requests) => requests > 0)).toBe(true);
    expect(answered.size).toBe(WORKERS);
    expect(total(await metricsOf(server, 'apiserver_request_total'))).toBeGreaterThanOrEqual(20 * (clients.length + 1));
    // The primary's own are there too, and what only it knows.
    for (const family of ['apiserver_storage_size_bytes', 'binnacle_storage_pages', 'binnacle_primary_resident_memory_bytes']) {
      expect(total(await metricsOf(server, family))).toBeGreaterThan(0);
    }
    expect(total(await metricsOf(server, 'process_resident_memory_bytes'))).toBeGreaterThan(
      total(await metricsOf(server, 'binnacle_worker_resident_memory_bytes')),
    );
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('end the token of a list with the compaction of its revision, and say where to go on', async () => {
    const server = await startWorkers('--etcd-compaction-interval=1s');
    const clients = clientsOf(server);
    for (const name of ['a', 'b', 'c']) await clients[0]!.create(CONFIG_MAPS, { metadata: { name } });
    const first = await clients[0]!.get<TestList>(`${CONFIG_MAPS}?limit=1`);
    for (const client of clients) {
      const expired = await eventually(async () => {
        const answer = await client.send({ path: `${CONFIG_MAPS}?limit=1&continue=${first.metadata.continue}` });
        expect(answer.status).toBe(410);
        return answer.json<TestList>();
      });
      const next = await client.get<TestList>(`${CONFIG_MAPS}?limit=1&continue=${expired.metadata.continue}`);
      expect(next.items.map(({ metadata }) => metadata.name)).toEqual(['b']);
      expect(next.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
    }
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('refuse what was forbidden through another one on the very next request', async () => {
    const server = await startWorkers();
    const admin = server.client();
    const users = clientsOf(server, 'bob');
    const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
    await admin.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      metadata: { name: 'writer' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['update'] }],
    });
    await admin.create(CONFIG_MAPS, { metadata: { name: 'guarded' } });
    const ask = async (): Promise<number[]> => {
      const answers = await Promise.all(
        users.map((user) => user.send({ method: 'PUT', path: `${CONFIG_MAPS}/guarded`, body: { metadata: { name: 'guarded' } } })),
      );
      return [...new Set(answers.map(({ status }) => status))];
    };
    for (let round = 0; round < 10; round++) {
      await admin.create(bindings, {
        metadata: { name: 'lent' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' }],
      });
      expect(await ask()).toEqual([200]);
      await admin.expect(200, { method: 'DELETE', path: `${bindings}/lent` });
      expect(await ask()).toEqual([403]);
    }
    await server.stop();
  });

  test('are replaced when they die, and nothing that was acknowledged is lost', async () => {
    const server = await startWorkers();
    const names: string[] = [];
    const stop = new AbortController();
    const write = async (client: ApiClient, writer: number): Promise<void> => {
      for (let count = 0; !stop.signal.aborted; count++) {
        const name = `w${writer}-${count}`;
        const answer = await client.send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name } } }).catch(() => undefined);
        if (answer?.status === 201) names.push(name);
      }
    };
    const writers = clientsOf(server).map(write);
    for (let deaths = 1; deaths <= 3; deaths++) {
      await untilGrown(names);
      process.kill(workerPids(server).at(-1)!, 'SIGKILL');
      await server.lineCount(/A worker died and is replaced/, deaths);
    }
    await untilGrown(names);
    stop.abort();
    await Promise.all(writers);
    const { items } = (await server.client().expect(200, { path: CONFIG_MAPS })).json<{ items: { metadata: { name: string } }[] }>();
    const stored = new Set(items.map(({ metadata }) => metadata.name));
    expect(names.filter((name) => !stored.has(name))).toEqual([]);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('are replaced one after the other on SIGHUP, with no request refused', async () => {
    const server = await startWorkers();
    const before = workerPids(server);
    const failures: string[] = [];
    let answered = 0;
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        // As clients do that keep no connection: each request is dealt to whoever takes requests now.
        const { status } = await server
          .client()
          .send({ path: CONFIG_MAPS, headers: { connection: 'close' } })
          .catch((error: Error) => ({ status: error.message }));
        if (status === 200) answered++;
        else failures.push(String(status));
      }
    };
    const asking = [ask(), ask()];
    server.child.kill('SIGHUP');
    await server.line(/All workers were replaced/);
    stop.abort();
    await Promise.all(asking);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(0);
    expect(workerPids(server).filter((pid) => before.includes(pid))).toEqual([]);
    expect(await server.stop()).toEqual(CLEAN_EXIT);
  });

  test('have one audit log', async () => {
    const folder = temporaryFolder();
    const policy = join(folder, 'policy.yaml');
    writeFileSync(
      policy,
      'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata, resources: [{ resources: [configmaps] }] }]\n',
    );
    const log = join(folder, 'audit.log');
    const server = await startWorkers(`--audit-policy-file=${policy}`, `--audit-log-path=${log}`);
    const clients = clientsOf(server);
    await Promise.all(clients.map((client, index) => client.create(CONFIG_MAPS, { metadata: { name: `audited-${index}` } })));
    expect(await server.stop()).toEqual(CLEAN_EXIT);
    const events = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { verb: string; objectRef: { name: string } });
    const created = events.filter(({ verb }) => verb === 'create').map(({ objectRef }) => objectRef.name);
    expect(created.toSorted()).toEqual(clients.map((_, index) => `audited-${index}`));
  });

  test('have answers of any length in it, and outlive those that it has no room for', async () => {
    const folder = temporaryFolder();
    const policy = join(folder, 'policy.yaml');
    writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: RequestResponse, users: [bob] }]\n');
    const log = join(folder, 'audit.log');
    const server = await startWorkers(`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=2');
    const [admin, bob] = [server.client(), server.client('bob')];
    await admin.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'bob' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'bob' }],
    });
    const data = { a: 'ä'.repeat(400_000) };
    const listed: TestList[] = [];
    for (const name of ['one', 'two', 'three']) {
      await admin.create(CONFIG_MAPS, { metadata: { name }, data });
      listed.push(await bob.get<TestList>(CONFIG_MAPS));
    }
    // A line is written when its request has been answered, so a client may be here first.
    await eventually(async () => expect(total(await metricsOf(server, 'apiserver_audit_error_total'))).toBe(1));
    expect(await server.stop()).toEqual(CLEAN_EXIT);
    const answers = readdirSync(folder)
      .filter((name) => name.startsWith('audit'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
      .map((line) => (JSON.parse(line) as { responseObject?: TestList }).responseObject)
      .filter((answer) => answer !== undefined)
      .toSorted((a, b) => a.items.length - b.items.length);
    expect(answers.map(({ items }) => items)).toEqual(listed.slice(0, 2).map(({ items }) => items));
  });

  test('leave a store that one process goes on with', async () => {
    const dataDir = temporaryFolder();
    const workers = await startServer({ storage: 'embedded', dataDir, flags: [`--workers=${WORKERS}`] });
    const created = await workers.client().create(CONFIG_MAPS, { metadata: { name: 'kept' } });
    await workers.stop();
    const alone = await startServer({ storage: 'embedded', dataDir });
    expect((await alone.client().expect(200, { path: `${CONFIG_MAPS}/kept` })).json()).toMatchObject({ metadata: { uid: created.metadata.uid } });
    await alone.stop();
  });

  test.each([
    [['--workers=many'], /--workers takes a number of processes up to 256, or auto, not "many"/],
    [['--workers=2', '--supervised'], /--supervised has no place beside --workers/],
    [['--workers=2', '--debug-socket-path=/tmp/binnacle-debug.sock'], /--debug-socket-path has no place beside --workers/],
  ])('%j is refused in one line', async (flags, message) => {
    await expect(startServer({ flags })).rejects.toThrow(message);
  });
});

/** Something was written since: whoever was replaced has not held the others up. */
async function untilGrown(names: readonly string[]): Promise<void> {
  const { length } = names;
  while (names.length < length + 20) await new Promise((resolve) => setImmediate(resolve));
}

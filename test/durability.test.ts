import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import type { ApiClient, TestEvent, TestList, TestObject } from './support/api-client.ts';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from './support/server.ts';

/* What was acknowledged stays, with the same uid and version, however the process ends; a watch over the end has no gap that it does not tell of. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const ROUNDS = 12;
const WRITERS = 32;

const restart = (server: ServerProcess): Promise<ServerProcess> => startServer({ storage: 'embedded', dataDir: server.dataDir, port: server.port });
const versionOf = ({ metadata }: { metadata: { resourceVersion: string } }): number => Number(metadata.resourceVersion);

/** All objects, by name. */
async function listAll(client: ApiClient): Promise<{ version: number; objects: Map<string, TestObject> }> {
  const list = await client.get<TestList>(CONFIG_MAPS);
  return { version: versionOf(list), objects: new Map(list.items.map((item) => [item.metadata.name, item])) };
}

/** Creates from many sides at once until the server is gone; `onAcknowledged` hears of every answer. */
async function createUntilGone(client: ApiClient, prefix: string, onAcknowledged: (object: TestObject) => void): Promise<void> {
  let count = 0;
  const write = async (): Promise<void> => {
    for (;;) {
      const name = `${prefix}-${count++}`;
      const answer = await client.send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name }, data: { name } } }).catch(() => undefined);
      if (answer === undefined) return;
      expect(answer.status).toBe(201);
      onAcknowledged(answer.json());
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/** Reads a resumed watch to the object `last`, or to the error that says that events are gone. */
async function resume(server: ServerProcess, from: string, last: string): Promise<TestEvent[]> {
  const watch = await server.client().watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${from}`);
  const events: TestEvent[] = [];
  for (;;) {
    const event = await watch.next();
    if (event === undefined) throw new Error('the watch ended');
    events.push(event);
    if (event.type === 'ERROR' || event.object.metadata.name === last) break;
  }
  watch.stop();
  return events;
}

async function createMany(client: ApiClient, names: readonly string[]): Promise<void> {
  for (const name of names) await client.create(CONFIG_MAPS, { metadata: { name } });
}

/** Names in the order of their creation. */
const names = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => `n-${String(from + index).padStart(3, '0')}`);

test(`killed ${ROUNDS} times while ${WRITERS} clients create: nothing acknowledged is lost, versions never go back`, { timeout: 120_000 }, async () => {
  const acknowledged = new Map<string, TestObject>();
  let newest = 0;
  let server = await startServer({ storage: 'embedded' });
  for (let round = 0; round < ROUNDS; round++) {
    const killAfter = acknowledged.size + 1 + Math.floor(Math.random() * 300);
    const client = server.client();
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=${newest || ''}`);
    await createUntilGone(client, `round-${round}`, (object) => {
      acknowledged.set(object.metadata.name, object);
      expect(versionOf(object)).toBeGreaterThan(newest);
      if (acknowledged.size === killAfter) server.signal('SIGKILL');
    });
    await server.exited;
    // What a watcher was shown is as good as acknowledged.
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) acknowledged.set(event.object.metadata.name, event.object);
    client.close();
    server = await restart(server);
    const { version, objects } = await listAll(server.client());
    const lost = [...acknowledged.values()].filter(({ metadata }) => {
      const found = objects.get(metadata.name)?.metadata;
      return found?.uid !== metadata.uid || found.resourceVersion !== metadata.resourceVersion;
    });
    expect(lost).toEqual([]);
    expect(version).toBeGreaterThanOrEqual(Math.max(newest, ...[...objects.values()].map(versionOf)));
    newest = version;
  }
  expect(acknowledged.size).toBeGreaterThan(ROUNDS);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test('updates and deletions are as durable as creations', { timeout: 60_000 }, async () => {
  let server = await startServer({ storage: 'embedded' });
  let client = server.client();
  const kept = await client.create(CONFIG_MAPS, { metadata: { name: 'kept' }, data: { step: '0' } });
  await client.create(CONFIG_MAPS, { metadata: { name: 'gone' } });
  let last = kept;
  for (let step = 1; step <= 20; step++) last = await client.update(`${CONFIG_MAPS}/kept`, { ...last, data: { step: String(step) } });
  await client.delete(`${CONFIG_MAPS}/gone`);
  await server.kill();
  server = await restart(server);
  client = server.client();
  expect(await client.get(`${CONFIG_MAPS}/kept`)).toEqual(last);
  expect((await client.send({ path: `${CONFIG_MAPS}/gone` })).status).toBe(404);
  await server.stop();
});

test('a full stop and start keeps every object of every kind as it is', async () => {
  const first = await startServer({ storage: 'embedded' });
  const kinds = [
    '/api/v1/namespaces',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  ];
  const read = (server: ServerProcess): Promise<TestObject[][]> => Promise.all(kinds.map(async (path) => (await server.client().get<TestList>(path)).items));
  const before = await read(first);
  expect(before.every((items) => items.length > 0)).toBe(true);
  await first.stop();
  const second = await restart(first);
  expect(await read(second)).toEqual(before);
  await second.stop();
});

describe('a watch across a restart', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('by %s goes on without a gap, or says 410', async (signal) => {
    let server = await startServer({ storage: 'embedded', dataDir: temporaryFolder() });
    const watch = await server.client().watch(`${CONFIG_MAPS}?watch=true`);
    await createMany(server.client(), names(0, 10));
    const seen = await watch.take(5);
    const { resourceVersion } = seen.at(-1)!.object.metadata;
    server.signal(signal);
    await server.exited;
    server = await restart(server);
    await createMany(server.client(), names(10, 5));
    const events = await resume(server, resourceVersion, 'n-014');
    const told = events.map(({ type, object }) => (type === 'ERROR' ? `${object.code} ${object.reason}` : `${type} ${object.metadata.name}`));
    expect([['410 Expired'], names(5, 10).map((name) => `ADDED ${name}`)]).toContainEqual(told);
    // From a list of the new server's on, there is never a reason to refuse.
    const { version } = await listAll(server.client());
    await createMany(server.client(), ['z']);
    expect((await resume(server, String(version), 'z')).map(({ type }) => type)).toEqual(['ADDED']);
    await server.stop();
  });

  test('from a version of the future waits for no event that never was', async () => {
    const server = await startServer({ storage: 'embedded' });
    const { version } = await listAll(server.client());
    const answer = await server.client().send({ path: `${CONFIG_MAPS}?resourceVersion=${version + 1_000_000}&timeoutSeconds=1` });
    expect(answer.status).toBe(504);
    expect(answer.json<{ reason: string; details: { causes: object[] } }>()).toMatchObject({
      reason: 'Timeout',
      details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
    });
    await server.stop();
  });
});

describe('a backup of a running server', () => {
  const binnacle = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [join(inject('distDir'), 'binnacle.js'), ...args])).stdout;

  test('under load is one state that was: all that was acknowledged before it, and nothing after it', { timeout: 120_000 }, async () => {
    const server = await startServer({ storage: 'embedded' });
    const client = server.client();
    const acknowledged: TestObject[] = [];
    const writing = createUntilGone(client, 'b', (object) => void acknowledged.push(object));
    const file = join(temporaryFolder(), 'backup');
    const before: number[] = [];
    const versions: number[] = [];
    for (let round = 0; round < 3; round++) {
      while (acknowledged.length < (round + 1) * 150) await delay(5);
      before.push(acknowledged.length);
      const said = await binnacle('backup', `${file}-${round}`, `--data-dir=${server.dataDir}`);
      versions.push(Number(/as of version (\d+)/.exec(said)![1]));
    }
    await server.kill();
    await writing;
    client.close();
    for (const [round, version] of versions.entries()) {
      const dataDir = temporaryFolder();
      await binnacle('restore', `${file}-${round}`, `--data-dir=${dataDir}`);
      const restored = await startServer({ storage: 'embedded', dataDir });
      const { objects, version: newest } = await listAll(restored.client());
      const lost = acknowledged.slice(0, before[round]).filter(({ metadata }) => objects.get(metadata.name)?.metadata.uid !== metadata.uid);
      expect(lost).toEqual([]);
      const shown = new Set([...objects.values()].map(versionOf));
      expect(acknowledged.map(versionOf).filter((made) => shown.has(made) !== made <= version)).toEqual([]);
      expect(newest).toBeGreaterThan(Math.max(...acknowledged.map(versionOf)));
      await restored.stop();
    }
  });

  test(
    'killed on its way leaves no file under its name, and the server as it was; a restore killed on its way leaves the store',
    { timeout: 120_000 },
    async () => {
      const server = await startServer({ storage: 'embedded' });
      const client = server.client();
      await createMany(client, names(0, 50));
      const file = join(temporaryFolder(), 'backup');
      for (let round = 0; round < 5; round++) {
        const backup = new CommandProcess(['backup', file, `--data-dir=${server.dataDir}`]);
        await delay(Math.random() * 150);
        await backup.kill();
        if (existsSync(file)) break;
      }
      await createMany(client, names(50, 10));
      expect((await listAll(client)).objects.size).toBeGreaterThanOrEqual(60);
      await binnacle('backup', file, `--data-dir=${server.dataDir}`);
      await createMany(client, ['later']);
      await server.stop();
      for (let round = 0; round < 5; round++) {
        const restore = new CommandProcess(['restore', file, `--data-dir=${server.dataDir}`, '--force']);
        await delay(Math.random() * 150);
        await restore.kill();
      }
      const again = await restart(server);
      const { objects } = await listAll(again.client());
      expect(names(0, 60).filter((name) => !objects.has(name))).toEqual([]);
      await again.stop();
    },
  );
});

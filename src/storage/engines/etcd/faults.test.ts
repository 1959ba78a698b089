import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { hasEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { CommitConflict, Compacted, type Engine, StorageUnavailable, type StoredEvent } from '../../engine.ts';
import { type EtcdEngineOptions, openEtcdEngine } from './engine.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const put = (engine: Engine, key: string, value: string, expected = 0): Promise<number> => engine.commit({ type: 'put', key, value: bytes(value), expected });

/** Quicker than etcd allows for long, and quick enough for a test. */
const EAGER = { keepaliveTimeMs: 1_000, keepaliveTimeoutMs: 500 };

const opened: Engine[] = [];
async function open(options: EtcdEngineOptions): Promise<Engine> {
  const engine = await openEtcdEngine({ keepalive: EAGER, random: () => 0, ...options });
  opened.push(engine);
  return engine;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()));
});

/** Keys in the order in which a watch tells of them. */
async function follow(engine: Engine, prefix: string): Promise<{ keys: string[]; revisions: number[] }> {
  const seen = { keys: [] as string[], revisions: [] as number[] };
  engine.watch(prefix, (await engine.currentRevision()) + 1, (events: StoredEvent[]) => {
    seen.keys.push(...events.map(({ key }) => key));
    seen.revisions.push(...events.map(({ revision }) => revision));
  });
  return seen;
}

/** Writes keys one after another until told to stop; answers those that were acknowledged, and those whose outcome nobody knows. */
function writer(engine: Engine, prefix: string): { stop(): Promise<{ acknowledged: string[]; unknown: string[] }> } {
  const acknowledged: string[] = [];
  const unknown: string[] = [];
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let i = 0; !stop.signal.aborted; i++) {
      const key = `${prefix}${String(i).padStart(5, '0')}`;
      await put(engine, key, 'x').then(
        () => acknowledged.push(key),
        () => unknown.push(key),
      );
      await delay(2);
    }
  };
  const running = run();
  return {
    async stop() {
      stop.abort();
      await running;
      return { acknowledged, unknown };
    },
  };
}

/** All that was acknowledged, nothing that was not tried, in order, once; and as the store has it. */
async function expectComplete(engine: Engine, prefix: string, seen: { keys: string[]; revisions: number[] }, acknowledged: string[]): Promise<void> {
  const stored = (await engine.range(prefix)).items;
  await vi.waitFor(() => expect(seen.keys).toHaveLength(stored.length), { timeout: 15_000 });
  expect(seen.keys.toSorted()).toEqual(stored.map(({ key }) => key));
  expect(seen.revisions).toEqual(stored.map(({ revision }) => revision).toSorted((a, b) => a - b));
  expect(stored.map(({ key }) => key)).toEqual(expect.arrayContaining(acknowledged));
}

describe.runIf(hasEtcd())('the etcd engine, when things go wrong', () => {
  test('a member is killed and comes back: the watch goes on without a gap or a repetition', async () => {
    const cluster = await startEtcd();
    const engine = await open(cluster);
    const seen = await follow(engine, '/k/');
    const writing = writer(engine, '/k/');
    for (let round = 0; round < 3; round++) {
      await vi.waitFor(() => expect(seen.keys.length).toBeGreaterThan(20 * (round + 1)), { timeout: 10_000 });
      await cluster.members[0]!.kill();
      cluster.members[0]!.start();
      await cluster.whenReady();
    }
    const { acknowledged } = await writing.stop();
    expect(acknowledged.length).toBeGreaterThan(60);
    await expectComplete(engine, '/k/', seen, acknowledged);
    await cluster.stop();
  });

  test('of three members each is killed and paused in turn: reads and writes go on at another', async () => {
    const cluster = await startEtcd({ members: 3 });
    const engine = await open(cluster);
    const seen = await follow(engine, '/k/');
    const writing = writer(engine, '/k/');
    for (const [index, member] of cluster.members.entries()) {
      const before = seen.keys.length;
      if (index === 1) member.pause();
      else await member.kill();
      await vi.waitFor(() => expect(seen.keys.length).toBeGreaterThan(before + 20), { timeout: 20_000 });
      const last = seen.revisions.at(-1)!;
      expect(await engine.currentRevision()).toBeGreaterThanOrEqual(last);
      if (index === 1) member.resume();
      else member.start();
      await cluster.whenReady();
    }
    const { acknowledged } = await writing.stop();
    await expectComplete(engine, '/k/', seen, acknowledged);
    await cluster.stop();
  }, 90_000);

  test('nobody answers: an engine is not opened; an open one says what is wrong and works again after', async () => {
    const cluster = await startEtcd();
    const engine = await open(cluster);
    await cluster.members[0]!.kill();
    await expect(openEtcdEngine({ endpoints: cluster.endpoints })).rejects.toThrow(StorageUnavailable);
    await expect(engine.get('/a')).rejects.toThrow(/^rpc error: code = Unavailable desc = connection error: desc = "connect ECONNREFUSED/);
    await expect(put(engine, '/a', 'x')).rejects.toMatchObject({ status: { code: 500 } });
    await expect(engine.checkHealth(1_000)).rejects.toThrow('error getting data from etcd: ');
    cluster.members[0]!.start();
    await cluster.whenReady();
    await vi.waitFor(async () => expect(await put(engine, '/a', 'x')).toBeGreaterThan(0), { timeout: 10_000 });
    await cluster.stop();
  });

  test("answers in etcd's words what it refuses", async () => {
    const cluster = await startEtcd();
    const engine = await open(cluster);
    const MIB = 1024 * 1024;
    await expect(put(engine, '/large', 'x'.repeat(1.7 * MIB))).rejects.toMatchObject({ status: { code: 500, message: 'etcdserver: request is too large' } });
    await expect(put(engine, '/large', 'x'.repeat(2 * MIB))).rejects.toMatchObject({
      status: { code: 500, message: expect.stringMatching(/^rpc error: code = ResourceExhausted desc = trying to send message larger than max/) },
    });
    expect(await put(engine, '/small', 'x')).toBeGreaterThan(1);
    await cluster.stop();
  });

  test('what was compacted while the watch was cut off is told as Compacted', async () => {
    const cluster = await startEtcd();
    const other = await open(cluster);
    const engine = await open(cluster);
    const errors: Error[] = [];
    const seen: string[] = [];
    engine.watch(
      '/k/',
      2,
      (events) => seen.push(...events.map(({ key }) => key)),
      (error) => errors.push(error),
    );
    for (let i = 0; i < 5; i++) await put(other, `/k/${i}`, 'x');
    // etcd tells a watch of what was before it a little later, if it is not compacted by then.
    await vi.waitFor(() => expect(seen).toHaveLength(5));
    const revision = await put(other, '/other', 'x');
    await other.compact(revision);
    engine.watch(
      '/k/',
      3,
      () => undefined,
      (error) => errors.push(error),
    );
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toBeInstanceOf(Compacted);
    await cluster.stop();
  });
});

describe.runIf(hasEtcd())('the etcd engine, on one member', () => {
  test('objects with a time to live go, and share a lease', async () => {
    const cluster = await startEtcd();
    const engine = await open(cluster);
    const removed: string[] = [];
    engine.watch('/ttl/', 1, (events) => removed.push(...events.filter(({ type }) => type === 'delete').map(({ key }) => key)));
    for (const key of ['/ttl/a', '/ttl/b']) await engine.commit({ type: 'put', key, value: bytes('x'), expected: 0, ttlSeconds: 2 });
    const kept = await engine.commit({ type: 'put', key: '/ttl/kept', value: bytes('x'), expected: 0, ttlSeconds: 2 });
    await put(engine, '/ttl/kept', 'y', kept);
    await vi.waitFor(() => expect(removed.toSorted()).toEqual(['/ttl/a', '/ttl/b']), { timeout: 10_000 });
    expect((await engine.range('/ttl/')).items.map(({ key }) => key)).toEqual(['/ttl/kept']);
    await cluster.stop();
  });

  test('a range of many megabytes comes whole, in pages of one revision', async () => {
    const cluster = await startEtcd();
    const engine = await open(cluster);
    const value = 'v'.repeat(16 * 1024);
    const keys = Array.from({ length: 1_300 }, (_, i) => `/many/${String(i).padStart(5, '0')}`);
    await Promise.all(keys.map((key) => put(engine, key, value)));
    const { items, remaining } = await engine.range('/many/');
    expect(items.map(({ key }) => key)).toEqual(keys);
    expect(items.every((item) => item.value.length === value.length)).toBe(true);
    expect(remaining).toBe(0);
    await cluster.stop();
  });

  test("two engines see each other's changes; a conflict carries the other's value", async () => {
    const cluster = await startEtcd();
    const [one, two] = [await open(cluster), await open(cluster)];
    const seen = await follow(two, '/k/');
    const first = await put(one, '/k/a', 'one');
    await expect(put(two, '/k/a', 'two')).rejects.toMatchObject({ current: { value: bytes('one'), revision: first } });
    await expect(put(two, '/k/a', 'two', first + 1)).rejects.toThrow(CommitConflict);
    const second = await put(two, '/k/a', 'two', first);
    await vi.waitFor(() => expect(seen.revisions).toEqual([first, second]));
    await cluster.stop();
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { Compacted, type Engine, type StoredEvent, type Subscription } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import type { ObjectCache } from './cache.ts';
import { CacheFeed } from './feed.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/configmaps/';
const value = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u"}}');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** An engine as etcd would be: others write too, and changes arrive when they arrive. */
class RemoteEngine implements Engine {
  readonly isSingleWriter = false;
  readonly #store = openMemoryEngine();
  #held: StoredEvent[] = [];
  #sink: ((events: StoredEvent[]) => void) | undefined;
  #onError: ((error: Error) => void) | undefined;
  #onProgress: ((revision: number) => void) | undefined;
  readings = 0;
  failures = 0;

  get = (key: string) => this.#store.get(key);
  range: Engine['range'] = (prefix, options) => (this.failures-- > 0 ? Promise.reject(new Error('no route to host')) : this.#store.range(prefix, options));
  commit: Engine['commit'] = (change) => this.#store.commit(change);
  compact: Engine['compact'] = (revision) => this.#store.compact(revision);
  get oldestRevision(): number {
    return this.#store.oldestRevision;
  }
  checkHealth = () => this.#store.checkHealth();
  close = () => this.#store.close();

  async currentRevision(): Promise<number> {
    this.readings++;
    return this.#store.currentRevision();
  }

  watch: Engine['watch'] = (prefix, from, sink, onError, onProgress): Subscription => {
    this.#sink = sink;
    this.#onError = onError;
    this.#onProgress = onProgress;
    this.#held = [];
    return this.#store.watch(prefix, from, (events) => this.#held.push(...events));
  };

  deliver(events = this.#held): void {
    this.#held = [];
    this.#sink?.(events);
  }

  progress = (revision: number): void => this.#onProgress?.(revision);
  lose = (): void => this.#onError?.(new Compacted(1));
}

describe('feed of an engine with other writers', () => {
  let engine: RemoteEngine;
  let clock: FakeClock;
  let feed: CacheFeed;
  let cache: ObjectCache;

  beforeEach(async () => {
    clock = new FakeClock();
    engine = new RemoteEngine();
    feed = new CacheFeed(engine, { clock });
    cache = openCache(feed, PREFIX);
    await cache.ready;
  });

  const put = (name: string): Promise<number> => engine.commit({ type: 'put', key: PREFIX + name, value, expected: 0 });

  test('freshen waits until the cache is as new as the store', async () => {
    await put('a');
    let isFresh = false;
    const fresh = cache.freshen()!.then(() => (isFresh = true));
    await turn();
    expect(isFresh).toBe(false);
    expect(cache.get(`${PREFIX}a`)).toBeUndefined();
    engine.deliver();
    await fresh;
    expect(cache.get(`${PREFIX}a`)).toBeDefined();
  });

  test('who comes while a reading is under way shares the next one', async () => {
    const before = engine.readings;
    const all = Array.from({ length: 100 }, () => cache.freshen());
    await turn();
    await Promise.all(all);
    expect(engine.readings - before).toBe(1);
    await cache.freshen();
    expect(engine.readings - before).toBe(2);
  });

  test('catches up with a revision that is known without a question: those who come meanwhile wait together', async () => {
    let newest = 0;
    const told = new CacheFeed(engine, { clock, readRevision: () => newest });
    const follower = openCache(told, PREFIX);
    await follower.ready;
    expect(told.catchUp()).toBeUndefined();
    newest = await engine.commit({ type: 'put', key: `${PREFIX}a`, value, expected: 0 });
    const first = told.catchUp();
    expect(first).toBeInstanceOf(Promise);
    expect(told.catchUp()).toBe(first);
    engine.deliver();
    await first;
    expect(follower.get(`${PREFIX}a`)).toBeDefined();
    expect(told.catchUp()).toBeUndefined();
    // Who comes after one was refused waits for himself.
    newest += 10;
    const refused = told.catchUp();
    clock.pass(3_000);
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching('Too large resource version') as string });
    const second = told.catchUp();
    expect(second).not.toBe(refused);
    engine.progress(newest);
    await second;
    follower.close();
    told.close();
  });

  test('waitFor ends when the revision is reached, by a change or by progress, and fails after three seconds', async () => {
    const revision = await put('a');
    const reached = cache.waitFor(revision)!;
    engine.deliver();
    await reached;
    expect(cache.waitFor(revision)).toBeUndefined();

    const byProgress = cache.waitFor(revision + 5)!;
    engine.progress(revision + 5);
    await byProgress;
    expect(cache.revision).toBe(revision + 5);

    const never = cache.waitFor(1_000)!;
    clock.pass(2_999);
    clock.pass(1);
    await expect(never).rejects.toMatchObject({ code: 504, message: `Timeout: Too large resource version: 1000, current: ${revision + 5}` });
  });

  test('changes of one revision show together', async () => {
    const other = openCache(feed, '/registry/secrets/');
    await other.ready;
    const seen: (boolean | string)[] = [];
    cache.watch(
      PREFIX,
      cache.revision,
      () => seen.push(other.get('/registry/secrets/b') !== undefined),
      () => undefined,
    );
    cache.watch(
      PREFIX,
      cache.revision,
      (event) => seen.push(event.key),
      () => undefined,
    );
    const revision = cache.revision + 1;
    const keys = [`${PREFIX}a`, '/registry/secrets/b', `${PREFIX}c`];
    engine.deliver(keys.map((key) => ({ type: 'put', key, revision, value, previous: undefined })));
    expect(seen).toEqual([true, `${PREFIX}a`, true, `${PREFIX}c`]);
    expect(cache.revision).toBe(revision);
  });

  test('a lost watch ends watches, loads anew until that works, and goes on', async () => {
    await put('a');
    engine.deliver();
    const errors: Error[] = [];
    cache.watch(
      PREFIX,
      cache.revision,
      () => undefined,
      (error) => errors.push(error),
    );
    await put('b');
    engine.failures = 1;
    engine.lose();
    expect(errors[0]).toBeInstanceOf(Compacted);
    await turn();
    expect(cache.count).toBe(1);
    expect(() =>
      cache.watch(
        PREFIX,
        cache.revision,
        () => undefined,
        () => undefined,
      ),
    ).toThrow(Compacted);
    clock.pass(1_000);
    await turn();
    expect(cache.count).toBe(2);
    const keys: string[] = [];
    cache.watch(
      PREFIX,
      cache.revision,
      ({ key }) => keys.push(key),
      () => undefined,
    );
    await put('c');
    engine.deliver();
    expect(keys).toEqual([`${PREFIX}c`]);
  });

  test('a first load that fails is told, and another cache may try again', async () => {
    engine.failures = 1;
    const failed = openCache(feed, '/registry/secrets/');
    await expect(failed.ready).rejects.toThrow('no route to host');
    const again = openCache(feed, '/registry/secrets/');
    await again.ready;
    await engine.commit({ type: 'put', key: '/registry/secrets/s', value, expected: 0 });
    engine.deliver();
    expect(again.count).toBe(1);
    expect(failed.count).toBe(0);
  });
});

test('a single writer has nothing to freshen', async () => {
  const cache = openCache(new CacheFeed(openMemoryEngine()), PREFIX);
  await cache.ready;
  expect(cache.freshen()).toBeUndefined();
});

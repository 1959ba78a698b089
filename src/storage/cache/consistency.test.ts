import { beforeEach, expect, test } from 'vitest';
import { MetricRegistry } from '../../metrics/registry.ts';
import { Compacted, type Engine, type StoredEvent } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import { StorageMetrics } from '../storage-metrics.ts';
import type { ObjectCache } from './cache.ts';
import { ConsistencyChecker } from './consistency.ts';
import { CacheFeed } from './feed.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/configmaps/';
const value = (name: string): Buffer => Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","uid":"u"}}`);

let engine: Engine;
let loses: (event: StoredEvent) => boolean;
let cache: ObjectCache;
let clock: FakeClock;
let registry: MetricRegistry;
let checker: ConsistencyChecker;
const reports: Record<string, unknown>[] = [];

/** An engine whose watch loses what it is told to lose. */
function lossy(): Engine {
  const store = openMemoryEngine();
  const watch: Engine['watch'] = (prefix, from, sink, onError, onProgress) =>
    store.watch(prefix, from, (events) => sink(events.filter((event) => !loses(event))), onError, onProgress);
  return new Proxy(store, {
    get: (target, name) =>
      name === 'watch' ? watch : typeof Reflect.get(target, name) === 'function' ? Reflect.get(target, name).bind(target) : Reflect.get(target, name),
  });
}

beforeEach(async () => {
  reports.length = 0;
  loses = () => false;
  engine = lossy();
  clock = new FakeClock();
  registry = new MetricRegistry();
  const metrics = new StorageMetrics(registry, true).of('', 'configmaps');
  const feed = new CacheFeed(engine, { prefix: '/registry/', clock });
  cache = openCache(feed, PREFIX, { metrics });
  await cache.ready;
  checker = new ConsistencyChecker({
    engine,
    cache,
    prefix: PREFIX,
    clock,
    metrics,
    report: (_message, details) => void reports.push(details),
    random: () => 0,
  });
});

const put = (name: string): Promise<number> => engine.commit({ type: 'put', key: PREFIX + name, value: value(name), expected: 0 });
const counted = (status: string): string => `apiserver_storage_consistency_checks_total{group="",resource="configmaps",status="${status}"} 1\n`;

test('a cache that is what is stored passes, page by page, every five minutes', async () => {
  for (let i = 0; i < 1001; i++) await put(`map-${i}`);
  clock.pass(5 * 60_000);
  await expect.poll(() => registry.print()).toContain(counted('success'));
  expect(reports).toEqual([]);
});

test('a lost event is found, told, and mended; watches begin anew', async () => {
  await put('a');
  loses = () => true;
  await put('lost');
  loses = () => false;
  await put('b');
  expect(cache.get(`${PREFIX}lost`)).toBeUndefined();
  const errors: Error[] = [];
  cache.watch(
    PREFIX,
    cache.revision,
    () => undefined,
    (error) => errors.push(error),
  );
  expect(await checker.check()).toBe('failure');
  expect(reports).toMatchObject([{ prefix: PREFIX, cached: undefined, stored: `${PREFIX}lost@3` }]);
  expect(registry.print()).toContain(counted('failure'));
  expect(cache.get(`${PREFIX}lost`)).toBeDefined();
  expect(errors[0]).toBeInstanceOf(Compacted);
  expect(await checker.check()).toBe('success');
});

test('a store that does not answer is no inconsistency', async () => {
  await put('a');
  checker.close();
  const failing = { ...engine, range: () => Promise.reject(new Error('no route to host')) } as unknown as Engine;
  const other = new ConsistencyChecker({ engine: failing, cache, prefix: PREFIX, clock, report: () => undefined });
  expect(await other.check()).toBe('error');
  other.close();
});

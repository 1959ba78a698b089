import { afterEach, describe, expect, test, vi } from 'vitest';
import { hasEtcd, startEtcd } from '../../../../test/support/etcd.ts';
import { CacheFeed } from '../../cache/feed.ts';
import { openCache } from '../../cache/object-cache.ts';
import type { Engine } from '../../engine.ts';
import { openEtcdEngine } from './engine.ts';

const PREFIX = '/registry/configmaps/';
const object = (name: string, value: string): Buffer =>
  Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"},"data":{"value":"${value}"}}`);
const valueOf = (bytes: Buffer | undefined): string | undefined => bytes && (JSON.parse(bytes.toString()) as { data: { value: string } }).data.value;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function open(): Promise<Engine> {
  const cluster = await startEtcd();
  const engine = await openEtcdEngine(cluster);
  closers.push(
    () => cluster.stop(),
    () => engine.close(),
  );
  return engine;
}

function cacheOn(engine: Engine) {
  const feed = new CacheFeed(engine, { prefix: '/registry/' });
  const cache = openCache(feed, PREFIX);
  closers.push(
    () => feed.close(),
    () => cache.close(),
  );
  return cache;
}

describe.runIf(hasEtcd())('a cache on etcd', () => {
  test('is as new as the store once it is fresh, whoever wrote', async () => {
    const engine = await open();
    const cache = cacheOn(engine);
    await cache.ready;
    let revision = 0;
    for (let i = 0; i < 50; i++) {
      revision = await engine.commit({ type: 'put', key: `${PREFIX}default/a`, value: object('a', String(i)), expected: revision });
      await cache.freshen();
      expect(cache.revision).toBeGreaterThanOrEqual(revision);
      expect(valueOf(cache.get(`${PREFIX}default/a`)?.bytes)).toBe(String(i));
    }
  });

  test('is fresh too when the newest change was of a key that nobody watches', async () => {
    const engine = await open();
    const cache = cacheOn(engine);
    await cache.ready;
    for (let i = 0; i < 3; i++) {
      const revision = await engine.commit({ type: 'put', key: `/elsewhere/${i}`, value: object('a', 'x'), expected: 0 });
      await cache.freshen();
      expect(cache.revision).toBeGreaterThanOrEqual(revision);
    }
  });

  test('concurrent readers share a round trip', async () => {
    const engine = await open();
    const cache = cacheOn(engine);
    await cache.ready;
    const asked = vi.spyOn(engine, 'currentRevision');
    await Promise.all(Array.from({ length: 64 }, () => cache.freshen()));
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test('is loaded anew when its history was compacted behind a broken watch', async () => {
    const engine = await open();
    const cache = cacheOn(engine);
    await cache.ready;
    const ended = new Promise<Error>((resolve) => cache.watch(PREFIX, cache.revision, () => undefined, resolve));
    // The watch that the feed makes next asks for what is gone, as after a long time without a connection.
    const spy = vi.spyOn(engine, 'watch');
    const feed = new CacheFeed(engine, { prefix: '/registry/' });
    closers.push(() => feed.close());
    spy.mockImplementationOnce((prefix, _from, ...rest) => engine.watch(prefix, 1, ...rest));
    const first = await engine.commit({ type: 'put', key: `${PREFIX}default/a`, value: object('a', 'one'), expected: 0 });
    await engine.commit({ type: 'put', key: `${PREFIX}default/a`, value: object('a', 'two'), expected: first });
    await engine.compact(await engine.currentRevision());
    const late = openCache(feed, PREFIX);
    closers.push(() => late.close());
    await late.ready;
    await late.freshen();
    expect(valueOf(late.get(`${PREFIX}default/a`)?.bytes)).toBe('two');
    cache.close();
    void ended;
  });
});

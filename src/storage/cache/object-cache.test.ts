import { beforeEach, describe, expect, test } from 'vitest';
import { Compacted, type Engine } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import type { CacheEvent, CacheList, ObjectCache } from './cache.ts';
import { CacheFeed } from './feed.ts';
import type { HistoryLimits } from './history.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/configmaps/';
const LIMITS: HistoryLimits = { minEvents: 3, maxEvents: 6, maxBytes: 1_000_000, freshMs: 75_000 };

const json = (name: string, data: string): Buffer =>
  Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","uid":"u-${name}"},"data":{"a":"${data}"}}`);
const ignore = (): void => undefined;
const line = (event: CacheEvent): string => `${event.type} ${event.entry.object().metadata.name}@${event.entry.object().metadata.resourceVersion}`;

describe('object cache', () => {
  let engine: Engine;
  let clock: FakeClock;
  let feed: CacheFeed;
  let cache: ObjectCache;

  beforeEach(async () => {
    clock = new FakeClock();
    engine = openMemoryEngine({ clock });
    feed = new CacheFeed(engine, { clock, prefix: '/registry/' });
    cache = openCache(feed, PREFIX);
    await cache.ready;
  });

  const put = async (name: string, data = 'x', prefix = PREFIX): Promise<number> => {
    const key = prefix + name;
    return engine.commit({ type: 'put', key, value: json(name.split('/').at(-1)!, data), expected: (await engine.get(key))?.revision ?? 0 });
  };
  const remove = async (name: string): Promise<number> =>
    engine.commit({ type: 'delete', key: PREFIX + name, expected: (await engine.get(PREFIX + name))!.revision });
  const names = (revision?: number, prefix = PREFIX): string[] =>
    cache.list(prefix, revision === undefined ? {} : { revision }).entries.map(({ key }) => key.slice(PREFIX.length));

  describe('entries', () => {
    test('carry their version in bytes and object, and know where the type ends', async () => {
      const revision = await put('ns/a');
      const entry = cache.get(`${PREFIX}ns/a`)!;
      expect(entry.revision).toBe(revision);
      expect(entry.bytes.toString()).toBe(
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u-a","resourceVersion":"${revision}"},"data":{"a":"x"}}`,
      );
      expect(entry.bytes.toString().slice(entry.typePrefixLength)).toMatch(/^"metadata":/);
      expect(entry.bytes.buffer).toBe(entry.bytes.buffer);
      expect(entry.object()).toBe(entry.object());
      expect(entry.object().metadata.resourceVersion).toBe(String(revision));
    });

    test('make another form once', async () => {
      await put('ns/a');
      const entry = cache.get(`${PREFIX}ns/a`)!;
      let made = 0;
      const make = (): Buffer => Buffer.from(String(++made));
      expect(entry.form('proto', make)).toBe(entry.form('proto', make));
      expect(entry.form('cbor', make).toString()).toBe('2');
    });

    test('of a commit are the cached ones while they are the newest', async () => {
      const value = json('a', 'x');
      const key = `${PREFIX}a`;
      const revision = await engine.commit({ type: 'put', key, value, expected: 0 });
      expect(cache.entryAt(key, value, revision)).toBe(cache.get(key));
      await put('a', 'newer');
      const older = cache.entryAt(key, value, revision);
      expect(older.revision).toBe(revision);
      expect(older.object().metadata.resourceVersion).toBe(String(revision));
    });
  });

  describe('lists', () => {
    test('are in the order of keys, under a prefix, at the newest revision of all resources', async () => {
      await put('b/x');
      await put('a/z');
      await put('a/y');
      const other = await put('n', 'x', '/registry/nodes/');
      expect(names()).toEqual(['a/y', 'a/z', 'b/x']);
      expect(names(undefined, `${PREFIX}a/`)).toEqual(['a/y', 'a/z']);
      expect(cache.list(PREFIX).revision).toBe(other);
      expect(cache.revision).toBe(other);
      expect(cache.count).toBe(3);
    });

    test('come in pages that all show the state of the first', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await put(name);
      const first = cache.list(PREFIX, { limit: 2 });
      expect(first).toMatchObject({ hasMore: true, remaining: 3, lastKey: `${PREFIX}b` });
      await remove('c');
      await put('b2');
      await put('d', 'changed');
      const second = cache.list(PREFIX, { limit: 2, after: first.lastKey!, revision: first.revision });
      expect(second.entries.map(({ key }) => key)).toEqual([`${PREFIX}c`, `${PREFIX}d`]);
      expect(second).toMatchObject({ hasMore: true, remaining: 1, revision: first.revision });
      expect(second.entries[1]!.object()).toMatchObject({ data: { a: 'x' } });
      const last = cache.list(PREFIX, { limit: 2, after: second.lastKey!, revision: first.revision });
      expect(last).toMatchObject({ hasMore: false, remaining: 0, lastKey: `${PREFIX}e` });
    });

    test.each([1, 2, 3, 5])('tell in each page how many keys follow, in pages of %i, with other lists between them', async (limit) => {
      for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'b/3', 'b/4', 'c/1']) await put(name);
      const pagesOf = function* (prefix: string): Generator<void> {
        const keys = cache.list(prefix).entries.map(({ key }) => key);
        let page = cache.list(prefix, { limit });
        for (let shown = page.entries.length; ; shown += page.entries.length) {
          expect(page).toMatchObject({ hasMore: shown < keys.length, remaining: keys.length - shown, lastKey: keys[shown - 1] });
          if (!page.hasMore) return;
          yield;
          page = cache.list(prefix, { limit, after: page.lastKey!, revision: page.revision });
        }
      };
      const lists = [PREFIX, `${PREFIX}b/`, PREFIX].map(pagesOf);
      for (let open = lists, i = 0; open.length > 0; i++) {
        open = open.filter((list) => !list.next().done);
        await put(`d/${i}`);
      }
    });

    test('with a selector count matches against the limit, and say whether keys follow', async () => {
      for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) await put(name);
      const matches = ({ key }: { key: string }): boolean => key.startsWith(`${PREFIX}a`);
      expect(cache.select(PREFIX, { matches }, { limit: 2 })).toMatchObject({
        hasMore: true,
        lastKey: `${PREFIX}a2`,
        remaining: 3,
        entries: [{ key: `${PREFIX}a1` }, { key: `${PREFIX}a2` }],
      });
      expect(await cache.select(PREFIX, { matches })).toMatchObject({ entries: { length: 3 } });
      expect(cache.select(PREFIX, { matches: () => false })).toMatchObject({ entries: [], hasMore: false, lastKey: `${PREFIX}b2` });
    });

    describe('with a selector that takes long', () => {
      /** So long that a slice is spent by the time that the clock is looked at. */
      const slowly = ({ key }: { key: string }): boolean => {
        for (const startMs = performance.now(); performance.now() - startMs < 1;);
        return !key.endsWith('7');
      };
      const many = Array.from({ length: 50 }, (_, index) => `n${String(index).padStart(2, '0')}`);
      const keysOf = ({ entries }: CacheList): string[] => entries.map(({ key }) => key.slice(PREFIX.length));

      test('let others have their turn, and see the state of when they began', async () => {
        for (const name of many) await put(name);
        const selecting = cache.select(PREFIX, { matches: slowly });
        expect(selecting).toBeInstanceOf(Promise);
        await put('n99');
        await remove('n49');
        expect(keysOf(await selecting)).toEqual(many.filter((name) => !name.endsWith('7')));
        expect(keysOf(cache.list(PREFIX))).not.toContain('n49');
      });

      test('hand out pages of that state', async () => {
        for (const name of many) await put(name);
        const selecting = cache.select(PREFIX, { matches: slowly }, { limit: 40 });
        await remove('n49');
        const first = await selecting;
        expect(first).toMatchObject({ hasMore: true, remaining: 6, lastKey: `${PREFIX}n43` });
        const second = await cache.select(PREFIX, { matches: slowly }, { after: first.lastKey!, revision: first.revision });
        expect([...keysOf(first), ...keysOf(second)]).toEqual(many.filter((name) => !name.endsWith('7')));
      });

      test('end when nobody waits for them', async () => {
        for (const name of many) await put(name);
        const checkWanted = (): void => {
          throw new Error('gone');
        };
        await expect(cache.select(PREFIX, { matches: slowly }, { checkWanted })).rejects.toThrow('gone');
      });
    });

    test('of a past revision come from history, from a page that was handed out, or are gone', async () => {
      const small = openCache(feed, PREFIX, { history: LIMITS });
      await small.ready;
      const revisions: number[] = [];
      for (let i = 0; i < 5; i++) revisions.push(await put(`k${i}`));
      const paged = small.list(PREFIX, { limit: 1 });
      for (let i = 5; i < 15; i++) revisions.push(await put(`k${i}`));
      const countAt = (revision: number): number => small.list(PREFIX, { revision }).entries.length;
      expect(countAt(revisions[14]!)).toBe(15);
      expect(countAt(revisions[8]!)).toBe(9);
      expect(() => countAt(revisions[7]!)).toThrow(Compacted);
      expect(countAt(paged.revision)).toBe(5);
      await engine.compact(paged.revision + 1);
      expect(countAt(paged.revision)).toBe(5);
      await engine.compact(paged.revision + 2);
      expect(() => countAt(paged.revision)).toThrow(Compacted);
      expect(() => countAt(cache.revision + 1)).toThrow('Too large resource version');
    });
  });

  describe('watches', () => {
    test('see what happens to an object, its last state bearing the revision of its end', async () => {
      const lines: string[] = [];
      cache.watch(PREFIX, cache.revision, (event) => lines.push(line(event)), ignore);
      const one = await put('a');
      const two = await put('a', 'y');
      const three = await remove('a');
      expect(lines).toEqual([`ADDED a@${one}`, `MODIFIED a@${two}`, `DELETED a@${three}`]);
    });

    test('carry the object before, and as it departs from a selection', async () => {
      const events: CacheEvent[] = [];
      cache.watch(PREFIX, cache.revision, (event) => events.push(event), ignore);
      const one = await put('a');
      const two = await put('a', 'y');
      expect(events[0]!.previous).toBeUndefined();
      expect(events[1]!.previous!.revision).toBe(one);
      expect(events[1]!.asDeleted().object()).toMatchObject({ metadata: { resourceVersion: String(two) }, data: { a: 'x' } });
      expect(events[1]!.asDeleted()).toBe(events[1]!.asDeleted());
    });

    test('replay history at once, then go on, each event once', async () => {
      const one = await put('ns/a');
      await put('other/x');
      const two = await put('ns/b');
      const lines: string[] = [];
      const subscription = cache.watch(`${PREFIX}ns/`, one, (event) => lines.push(line(event)), ignore);
      expect(lines).toEqual([`ADDED b@${two}`]);
      const three = await put('ns/c');
      await put('other/y');
      expect(lines).toEqual([`ADDED b@${two}`, `ADDED c@${three}`]);
      subscription.close();
      await put('ns/d');
      expect(lines).toHaveLength(2);
    });

    test('begun in a sink, closed in a sink, or from the future, get what is theirs', async () => {
      const inner: number[] = [];
      const future: number[] = [];
      const closed: number[] = [];
      const start = cache.revision;
      const subscription = cache.watch(
        PREFIX,
        start,
        (event) => {
          closed.push(event.revision);
          subscription.close();
        },
        ignore,
      );
      let isBegun = false;
      cache.watch(
        PREFIX,
        start,
        () => {
          if (!isBegun) cache.watch(PREFIX, start, (event) => inner.push(event.revision), ignore);
          isBegun = true;
        },
        ignore,
      );
      cache.watch(PREFIX, start + 2, (event) => future.push(event.revision), ignore);
      for (const name of ['a', 'b', 'c']) await put(name);
      expect(inner).toEqual([start + 1, start + 2, start + 3]);
      expect(future).toEqual([start + 3]);
      expect(closed).toEqual([start + 1]);
    });

    test('that throw are closed; the others do not notice', async () => {
      const errors: string[] = [];
      const lines: string[] = [];
      cache.watch(
        PREFIX,
        cache.revision,
        () => {
          throw new Error('full');
        },
        (error) => {
          errors.push(error.message);
          throw new Error('again');
        },
      );
      cache.watch(PREFIX, cache.revision, (event) => lines.push(line(event)), ignore);
      await put('a');
      await put('b');
      expect(errors).toEqual(['full']);
      expect(lines).toHaveLength(2);
    });

    test('from before history are refused with the oldest revision there is', async () => {
      const small = openCache(feed, PREFIX, { history: LIMITS });
      await small.ready;
      const revisions: number[] = [];
      for (let i = 0; i < 10; i++) revisions.push(await put(`k${i}`));
      expect(() => small.watch(PREFIX, revisions[2]!, ignore, ignore)).toThrow(expect.objectContaining({ oldestRevision: revisions[3]! }));
      small.watch(PREFIX, revisions[3]!, ignore, ignore).close();
    });

    test('history keeps what is young, and the last few whatever their age', async () => {
      const small = openCache(feed, PREFIX, { history: { ...LIMITS, maxEvents: 100 } });
      await small.ready;
      const revisions: number[] = [];
      for (let i = 0; i < 10; i++) revisions.push(await put(`k${i}`));
      clock.pass(75_000);
      small.watch(PREFIX, revisions[0]!, ignore, ignore).close();
      clock.pass(1_001);
      revisions.push(await put('k10'));
      expect(() => small.watch(PREFIX, revisions[6]!, ignore, ignore)).toThrow(Compacted);
      small.watch(PREFIX, revisions[7]!, ignore, ignore).close();
    });
  });

  test('progress comes once a minute from when it was asked for', async () => {
    const calls: [string, number][] = [];
    cache.onProgress((revision) => calls.push(['first', revision]));
    clock.pass(30_000);
    const second = cache.onProgress((revision) => calls.push(['second', revision]));
    cache.onProgress(() => {
      throw new Error('gone');
    });
    const revision = await put('n', 'x', '/registry/nodes/');
    clock.pass(29_999);
    expect(calls).toEqual([]);
    clock.pass(1);
    expect(calls).toEqual([['first', revision]]);
    clock.pass(30_000);
    expect(calls).toEqual([
      ['first', revision],
      ['second', revision],
    ]);
    second.close();
    clock.pass(60_000);
    expect(calls).toHaveLength(3);
  });

  test('a cache opened later starts with what is stored', async () => {
    await put('ns/a');
    const late = openCache(feed, PREFIX);
    const racing = put('ns/b');
    await late.ready;
    await racing;
    expect(late.list(PREFIX).entries.map(({ key }) => key)).toEqual([`${PREFIX}ns/a`, `${PREFIX}ns/b`]);
    late.close();
    await put('ns/c');
    expect(late.count).toBe(2);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { Engine } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import type { Attribute, CacheEntry, CacheList, ObjectCache } from './cache.ts';
import { CacheFeed } from './feed.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/things/';

const NODE: Attribute = { valueOf: (entry) => entry.object<{ spec?: { node?: string } }>().spec?.node ?? '' };

describe('an index', () => {
  let clock: FakeClock;
  let engine: Engine;
  let cache: ObjectCache;
  const keyOf = (i: number): string => `${PREFIX}a/${String(i).padStart(3, '0')}`;
  const put = async (i: number, node: string): Promise<void> => {
    const expected = (await engine.get(keyOf(i)))?.revision ?? 0;
    const value = Buffer.from(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"n"},"spec":{"node":"${node}"}}`);
    await engine.commit({ type: 'put', key: keyOf(i), value, expected });
  };
  const matches = (entry: CacheEntry): boolean => NODE.valueOf(entry) === 'x';
  const keysOf = ({ entries }: CacheList): string[] => entries.map(({ key }) => key);

  beforeEach(async () => {
    clock = new FakeClock();
    engine = openMemoryEngine({ clock });
    cache = openCache(new CacheFeed(engine, { clock }), PREFIX);
    await cache.ready;
  });

  test('that takes long to build lets others have their turn, and has what they changed', async () => {
    let isSlow = true;
    const slow: Attribute = {
      valueOf(entry) {
        if (isSlow) for (const startMs = performance.now(); performance.now() - startMs < 1;);
        return NODE.valueOf(entry);
      },
    };
    for (let i = 0; i < 100; i++) await put(i, i % 2 === 0 ? 'x' : 'y');
    const selection = { matches, lookup: { by: slow, values: ['x'] } };
    const selecting = [cache.select(PREFIX, selection), cache.select(PREFIX, selection)];
    expect(selecting[0]).toBeInstanceOf(Promise);
    isSlow = false;
    for (const i of [0, 1, 98, 99]) await put(i, i % 2 === 0 ? 'y' : 'x');
    const expected = Array.from({ length: 100 }, (_, i) => i).filter((i) => (i < 2 || i > 97 ? i % 2 === 1 : i % 2 === 0));
    for (const selected of selecting) expect(keysOf(await selected)).toEqual(expected.map(keyOf));
    expect(keysOf(await cache.select(PREFIX, selection))).toEqual(expected.map(keyOf));
  });

  test('is asked instead of every object, and of every watcher', async () => {
    for (let i = 0; i < 100; i++) await put(i, 'y');
    await put(100, 'x');
    let looked = 0;
    const counting = (entry: CacheEntry): boolean => (looked++, matches(entry));
    for (let i = 0; i < 10; i++) expect(keysOf(await cache.select(PREFIX, { matches: counting, lookup: { by: NODE, values: ['x'] } }))).toEqual([keyOf(100)]);
    expect(looked).toBe(10);
    let events = 0;
    for (let i = 0; i < 1000; i++) {
      const lookup = { by: NODE, values: [`n${i}`] };
      cache.watch(
        PREFIX,
        cache.revision,
        () => events++,
        () => undefined,
        { lookup },
      );
    }
    await put(1, 'n7');
    await put(1, 'n8');
    expect(events).toBe(3);
  });

  test('of a small part of the cache is not made for one list of it', async () => {
    for (let i = 0; i < 50; i++) await put(i, 'y');
    await engine.commit({ type: 'put', key: `${PREFIX}b/1`, value: Buffer.from('{"kind":"Thing","apiVersion":"v1","metadata":{"name":"n"}}'), expected: 0 });
    const read = new Set<string>();
    const by: Attribute = { valueOf: (entry) => (read.add(entry.key), NODE.valueOf(entry)) };
    for (let i = 0; i < 50; i++) await cache.select(`${PREFIX}b/`, { matches, lookup: { by, values: ['x'] } });
    expect(read.size).toBe(0);
    await cache.select(`${PREFIX}b/`, { matches, lookup: { by, values: ['x'] } });
    expect(read.size).toBe(51);
  });

  test('never has more than the prefix that was asked for', async () => {
    await put(1, 'x');
    const selection = { matches, within: `${PREFIX}a/`, lookup: { by: NODE, values: ['x'] } };
    expect(await cache.select(`${PREFIX}b/`, selection)).toMatchObject({ entries: [] });
    let events = 0;
    cache.watch(
      `${PREFIX}b/`,
      cache.revision,
      () => events++,
      () => undefined,
      selection,
    );
    await put(1, 'y');
    expect(events).toBe(0);
  });

  test('does not hide an object that can not be read', async () => {
    await put(1, 'x');
    const selection = { matches, lookup: { by: NODE, values: ['y'] } };
    expect(await cache.select(PREFIX, selection)).toMatchObject({ entries: [] });
    const failures: Error[] = [];
    cache.watch(
      PREFIX,
      cache.revision,
      () => undefined,
      () => undefined,
      selection,
    );
    cache.watch(
      PREFIX,
      cache.revision,
      ({ entry }) => void matches(entry),
      (error) => failures.push(error),
      selection,
    );
    await engine.commit({ type: 'put', key: keyOf(2), value: Buffer.from('{"kind":"Thing","apiVersion":"v1",,'), expected: 0 });
    expect(failures.length).toBe(1);
    expect(() => cache.select(PREFIX, selection)).toThrow('invalid character');
    await engine.commit({ type: 'delete', key: keyOf(2), expected: (await engine.get(keyOf(2)))!.revision });
    expect(await cache.select(PREFIX, selection)).toMatchObject({ entries: [] });
  });

  describe('that nobody selects by', () => {
    const MINUTE_MS = 60_000;
    let read: Set<string>;
    /** A field whose every reading is noted: all of them are when an index is made. */
    let by: Attribute;
    const list = async (): Promise<number> => {
      read.clear();
      await cache.select(PREFIX, { matches, lookup: { by, values: ['x'] } });
      return read.size;
    };

    beforeEach(async () => {
      read = new Set();
      by = { valueOf: (entry) => (read.add(entry.key), NODE.valueOf(entry)) };
      for (let i = 0; i < 20; i++) await put(i, 'y');
      expect(await list()).toBe(20);
      expect(await list()).toBe(0);
    });

    test('is dropped after a while', async () => {
      clock.pass(3 * MINUTE_MS);
      expect(await list()).toBe(0);
      clock.pass(7 * MINUTE_MS);
      await put(1, 'z');
      expect(read.size).toBe(0);
      expect(await list()).toBe(20);
    });

    test('stays while a watch of it is open', async () => {
      const where = { lookup: { by, values: ['x'] } };
      const ignored = (): void => undefined;
      const watch = cache.watch(PREFIX, cache.revision, ignored, ignored, where);
      clock.pass(20 * MINUTE_MS);
      expect(await list()).toBe(0);
      watch.close();
      clock.pass(20 * MINUTE_MS);
      expect(await list()).toBe(20);
    });

    test('gives way to those that somebody selects by', async () => {
      for (let i = 0; i < 40; i++) await cache.select(PREFIX, { matches, lookup: { by: { label: `l${i}` }, values: ['x'] } });
      expect(await list()).toBe(20);
    });
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CommitConflict, Compacted, type Engine, StorageUnavailable, type StoredEvent } from '../engine.ts';
import { FakeClock } from '../fake-clock.ts';
import type { ChangeLogLimits } from './change-log.ts';

export interface ContractOptions {
  clock: FakeClock;
  history?: ChangeLogLimits;
}

const bytes = (text: string): Buffer => Buffer.from(text);
const put = (engine: Engine, key: string, value: string, expected = 0): Promise<number> => engine.commit({ type: 'put', key, value: bytes(value), expected });
const remove = (engine: Engine, key: string, expected: number): Promise<number> => engine.commit({ type: 'delete', key, expected });
const conflictOf = (commit: Promise<number>): Promise<CommitConflict> =>
  commit.then(
    () => expect.fail('no conflict'),
    (error) => error,
  );

/** A change as one line: `5 put /a one>two`. */
const line = ({ revision, type, key, value, previous }: StoredEvent): string => `${revision} ${type} ${key} ${previous?.value ?? ''}>${value ?? ''}`;

/** Resolves when the watch has begun; `event` when the key is removed. */
async function whenGone(engine: Engine, key: string): Promise<{ event: Promise<StoredEvent> }> {
  const from = (await engine.currentRevision()) + 1;
  const event = new Promise<StoredEvent>((resolve) => {
    engine.watch(key, from, (events) => {
      const removal = events.find(({ type }) => type === 'delete');
      if (removal) resolve(removal);
    });
  });
  return { event };
}

/** By the end of the commit in a single writer; as soon as the news has come with others. */
async function delivered(engine: Engine, check: () => void): Promise<void> {
  if (engine.isSingleWriter) check();
  else await vi.waitFor(check, { timeout: 5_000, interval: 5 });
}

/** Resolves with Compacted, whether the call throws it or `onError` is told. */
const compactedWatch = (engine: Engine, prefix: string, from: number): Promise<Error> =>
  new Promise((resolve) => {
    try {
      engine.watch(prefix, from, () => undefined, resolve);
    } catch (error) {
      resolve(error as Error);
    }
  });

/** `isClocked`: the engine keeps time, and history within bounds, by itself, so that the test can say how. */
interface ContractScope {
  isClocked: boolean;
}

/** Every sentence of `Engine`, for any engine. `open` makes an empty one. */
export function engineContract(name: string, open: (options: ContractOptions) => Promise<Engine>, { isClocked }: ContractScope = { isClocked: true }): void {
  describe(`the ${name}`, () => {
    let engine: Engine;
    let clock: FakeClock;

    beforeEach(async () => {
      clock = new FakeClock();
      engine = await open({ clock });
    });
    afterEach(() => engine.close());

    const keysOf = async (prefix: string): Promise<string[]> => (await engine.range(prefix)).items.map(({ key }) => key);

    describe('commit and get', () => {
      test('a put is read back with its revision; revisions are positive and grow over all keys', async () => {
        expect(await engine.get('/a')).toBeUndefined();
        const start = await engine.currentRevision();
        expect(start).toBeGreaterThan(0);
        const first = await put(engine, '/a', 'one');
        const second = await put(engine, '/b', 'two');
        expect(first).toBeGreaterThan(start);
        expect(second).toBeGreaterThan(first);
        expect(await engine.get('/a')).toMatchObject({ key: '/a', value: bytes('one'), revision: first });
        expect(await engine.currentRevision()).toBe(second);
      });

      test('a put where the key is not at the expected revision conflicts, with the current value', async () => {
        const first = await put(engine, '/a', 'one');
        const exists = await conflictOf(put(engine, '/a', 'two'));
        expect(exists).toBeInstanceOf(CommitConflict);
        expect(exists).toMatchObject({ key: '/a', current: { key: '/a', value: bytes('one'), revision: first } });
        const second = await put(engine, '/a', 'two', first);
        expect(await conflictOf(put(engine, '/a', 'three', first))).toMatchObject({ current: { value: bytes('two'), revision: second } });
        expect(await conflictOf(put(engine, '/absent', 'x', first))).toMatchObject({ key: '/absent', current: undefined });
        expect(await engine.currentRevision()).toBe(second);
      });

      test('a delete takes a revision; one of an absent key conflicts', async () => {
        const first = await put(engine, '/a', 'one');
        expect(await conflictOf(remove(engine, '/a', first + 1))).toMatchObject({ current: { revision: first } });
        expect(await remove(engine, '/a', first)).toBeGreaterThan(first);
        expect(await engine.get('/a')).toBeUndefined();
        expect(await conflictOf(remove(engine, '/a', first))).toMatchObject({ current: undefined });
        expect(await conflictOf(remove(engine, '/a', 0))).toMatchObject({ current: undefined });
        expect(await put(engine, '/a', 'again')).toBeGreaterThan(first + 1);
      });

      test('values may be empty, large and of any bytes; keys may be odd', async () => {
        const large = Buffer.alloc(1024 * 1024, 'x');
        const odd = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
        await engine.commit({ type: 'put', key: '/empty', value: Buffer.alloc(0), expected: 0 });
        await engine.commit({ type: 'put', key: '/large', value: large, expected: 0 });
        for (const key of ['/__proto__', '/constructor', '/ü/\u{1f600}', '/with space', '/nul\0l'])
          await engine.commit({ type: 'put', key, value: odd, expected: 0 });
        expect((await engine.get('/empty'))?.value.length).toBe(0);
        expect((await engine.get('/large'))?.value.equals(large)).toBe(true);
        for (const key of ['/__proto__', '/constructor', '/ü/\u{1f600}', '/with space', '/nul\0l']) expect((await engine.get(key))?.value).toEqual(odd);
      });
    });

    describe('range', () => {
      test('answers the keys under a prefix, ascending by their bytes', async () => {
        const keys = ['/p/b', '/p/a', '/p/a/x', '/p/a0', '/p/\u{1f600}', '/p/\uffff', '/p/é', '/p0', '/o', '/p'];
        for (const key of keys) await put(engine, key, key);
        expect(await keysOf('/p/')).toEqual(['/p/a', '/p/a/x', '/p/a0', '/p/b', '/p/é', '/p/\uffff', '/p/\u{1f600}']);
        expect(await keysOf('')).toHaveLength(keys.length);
        expect(await keysOf('/none')).toEqual([]);
        expect((await engine.range('/p/')).items[0]).toMatchObject({ key: '/p/a', value: bytes('/p/a') });
      });

      test('after and limit cut it, and the rest is counted', async () => {
        for (const key of ['/a/1', '/a/2', '/a/3', '/a/4', '/b/1']) await put(engine, key, 'x');
        const revision = await engine.currentRevision();
        const page = await engine.range('/a/', { limit: 2 });
        expect(page).toMatchObject({ revision, remaining: 2, items: [{ key: '/a/1' }, { key: '/a/2' }] });
        expect(await engine.range('/a/', { after: '/a/2', limit: 2 })).toMatchObject({ remaining: 0, items: [{ key: '/a/3' }, { key: '/a/4' }] });
        expect(await engine.range('/a/', { after: '/a/2x', limit: 1 })).toMatchObject({ remaining: 1, items: [{ key: '/a/3' }] });
        expect((await engine.range('/a/', { after: '/a/4' })).items).toEqual([]);
        expect((await engine.range('/a/', { after: '/' })).items).toHaveLength(4);
        expect(await engine.range('/a/', { after: '/b/0', limit: 1 })).toMatchObject({ items: [], remaining: 0 });
        expect(await engine.range('/a/', { after: '/', limit: 1 })).toMatchObject({ items: [{ key: '/a/1' }], remaining: 3 });
        expect(await engine.range('/a/', { limit: 0 })).toMatchObject({ items: [], remaining: 4 });
      });

      test('answers a past state, whole or in pages', async () => {
        const first = await put(engine, '/a/1', 'one');
        const second = await put(engine, '/a/2', 'two');
        const third = await put(engine, '/a/1', 'changed', first);
        const fourth = await remove(engine, '/a/2', second);
        await put(engine, '/a/0', 'late');
        const at = async (revision: number): Promise<string> =>
          (await engine.range('/a/', { revision })).items.map((item) => `${item.key}=${item.value}@${item.revision}`).join(' ');
        expect(await at(first - 1)).toBe('');
        expect(await at(first)).toBe(`/a/1=one@${first}`);
        expect(await at(second)).toBe(`/a/1=one@${first} /a/2=two@${second}`);
        expect(await at(third)).toBe(`/a/1=changed@${third} /a/2=two@${second}`);
        expect(await at(fourth)).toBe(`/a/1=changed@${third}`);
        expect(await engine.range('/a/', { revision: second, limit: 1 })).toMatchObject({ revision: second, remaining: 1, items: [{ key: '/a/1' }] });
        expect(await engine.range('/a/', { revision: second, after: '/a/1' })).toMatchObject({ remaining: 0, items: [{ key: '/a/2' }] });
        await expect(engine.range('/a/', { revision: fourth + 10 })).rejects.toThrow(RangeError);
      });

      test('is one consistent state while others write', async () => {
        const writers = Array.from({ length: 20 }, async (_, i) => {
          const left = await put(engine, `/pair/${i}/left`, 'x');
          await put(engine, `/pair/${i}/right`, 'x');
          return left;
        });
        for (let i = 0; i < 10; i++) {
          const { items, revision } = await engine.range('/pair/');
          expect(Math.max(0, ...items.map((item) => item.revision))).toBeLessThanOrEqual(revision);
          const keys = new Set(items.map(({ key }) => key));
          const halves = [...keys].filter((key) => key.endsWith('right') && !keys.has(key.replace('right', 'left')));
          expect(halves).toEqual([]);
        }
        await Promise.all(writers);
      });
    });

    describe('watch', () => {
      test('delivers changes under its prefix, with the values before and after', async () => {
        const lines: string[] = [];
        const subscription = engine.watch('/w/', (await engine.currentRevision()) + 1, (events) => lines.push(...events.map(line)));
        const first = await put(engine, '/w/a', 'one');
        await delivered(engine, () => expect(lines).toEqual([`${first} put /w/a >one`]));
        await put(engine, '/other', 'x');
        const second = await put(engine, '/w/a', 'two', first);
        const third = await remove(engine, '/w/a', second);
        await delivered(engine, () => expect(lines).toEqual([`${first} put /w/a >one`, `${second} put /w/a one>two`, `${third} delete /w/a two>`]));
        subscription.close();
        await put(engine, '/w/b', 'x');
        expect(lines).toHaveLength(3);
      });

      test('starts in the past or in the future, with no gap and no repetition', async () => {
        const revisions: number[] = [];
        for (let i = 0; i < 5; i++) revisions.push(await put(engine, `/w/${i}`, 'x'));
        const past: number[] = [];
        const future: number[] = [];
        engine.watch('/w/', revisions[2]!, (events) => past.push(...events.map((event) => event.revision)));
        engine.watch('/w/', revisions[4]! + 2, (events) => future.push(...events.map((event) => event.revision)));
        await delivered(engine, () => expect(past).toEqual(revisions.slice(2)));
        for (let i = 5; i < 8; i++) revisions.push(await put(engine, `/w/${i}`, 'x'));
        await delivered(engine, () => expect(past).toEqual(revisions.slice(2)));
        await delivered(engine, () => expect(future).toEqual(revisions.filter((revision) => revision >= revisions[4]! + 2)));
      });

      test('a watch begun inside a sink gets each change once', async () => {
        const outer: number[] = [];
        const inner: number[] = [];
        engine.watch('/w/', (await engine.currentRevision()) + 1, (events) => {
          outer.push(...events.map((event) => event.revision));
          if (outer.length === 1) engine.watch('/w/', outer[0]!, (more) => inner.push(...more.map((event) => event.revision)));
        });
        for (let i = 0; i < 3; i++) await put(engine, `/w/${i}`, 'x');
        await delivered(engine, () => expect(outer).toHaveLength(3));
        await delivered(engine, () => expect(inner).toEqual(outer));
      });

      test('a sink that throws ends its own watch only', async () => {
        const errors: string[] = [];
        const lines: string[] = [];
        const from = (await engine.currentRevision()) + 1;
        engine.watch(
          '/w/',
          from,
          () => {
            throw new Error('broken sink');
          },
          (error) => errors.push(error.message),
        );
        engine.watch('/w/', from, (events) => lines.push(...events.map(line)));
        await put(engine, '/w/a', 'x');
        await put(engine, '/w/b', 'x');
        await delivered(engine, () => expect(errors).toEqual(['broken sink']));
        await delivered(engine, () => expect(lines).toHaveLength(2));
      });
    });

    describe('concurrency', () => {
      test('64 writers on one key: every success builds on the one before, none is lost', async () => {
        const start = await put(engine, '/counter', '0');
        const lines: string[] = [];
        engine.watch('/counter', start + 1, (events) => lines.push(...events.map((event) => `${event.previous!.value}>${event.value}`)));
        let attempts = 0;
        const increment = async (): Promise<void> => {
          for (let current = (await engine.get('/counter'))!; ;) {
            attempts++;
            const outcome = await put(engine, '/counter', String(Number(current.value.toString()) + 1), current.revision).catch((error) => error);
            if (typeof outcome === 'number') return;
            if (!(outcome instanceof CommitConflict)) throw outcome;
            current = outcome.current!;
          }
        };
        await Promise.all(Array.from({ length: 64 }, increment));
        expect((await engine.get('/counter'))!.value.toString()).toBe('64');
        await delivered(engine, () => expect(lines).toEqual(Array.from({ length: 64 }, (_, i) => `${i}>${i + 1}`)));
        // Each of 64 may lose to each other one once, and not more.
        expect(attempts).toBeLessThanOrEqual((64 * 65) / 2);
      });

      test('64 writers on keys of their own: all succeed, in one order for every watcher', async () => {
        const from = (await engine.currentRevision()) + 1;
        const seen: number[][] = [[], []];
        for (const revisions of seen) engine.watch('/own/', from, (events) => revisions.push(...events.map((event) => event.revision)));
        const answered = await Promise.all(
          Array.from({ length: 64 }, async (_, i) => {
            let revision = 0;
            for (let round = 0; round < 5; round++) {
              revision = await put(engine, `/own/${i}`, String(round), revision);
              const answeredAt = revision;
              await delivered(engine, () => expect(seen[0]!.at(-1)).toBeGreaterThanOrEqual(answeredAt));
              expect((await engine.get(`/own/${i}`))!.revision).toBe(revision);
            }
            return revision;
          }),
        );
        expect(new Set(answered).size).toBe(64);
        for (const revisions of seen) await delivered(engine, () => expect(revisions).toHaveLength(64 * 5));
        expect(seen[0]).toEqual(seen[0]!.toSorted((a, b) => a - b));
        expect(seen[1]).toEqual(seen[0]);
        expect(await engine.currentRevision()).toBe(seen[0]!.at(-1));
      });

      test('of commits of one key made together, the first wins', async () => {
        const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((value) => put(engine, '/k', value)));
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
        expect((await engine.get('/k'))!.value.toString()).toBe('a');
      });
    });

    describe('compaction', () => {
      test('what is compacted cannot be watched or read; the rest can', async () => {
        const revisions: number[] = [];
        for (let i = 0; i < 5; i++) revisions.push(await put(engine, `/c/${i}`, 'x'));
        await engine.compact(revisions[3]!);
        expect(await compactedWatch(engine, '/c/', revisions[1]!)).toBeInstanceOf(Compacted);
        await expect(engine.range('/c/', { revision: revisions[1]! })).rejects.toThrow(Compacted);
        expect((await engine.range('/c/', { revision: revisions[2]! })).items).toHaveLength(3);
        const seen: number[] = [];
        engine.watch('/c/', revisions[3]!, (events) => seen.push(...events.map((event) => event.revision)));
        await delivered(engine, () => expect(seen).toEqual(revisions.slice(3)));
        expect(await keysOf('/c/')).toHaveLength(5);
        await engine.compact(revisions[4]! + 100);
        await put(engine, '/c/5', 'x');
        await delivered(engine, () => expect(seen).toHaveLength(3));
      });

      test.runIf(isClocked)('history is bounded by count and bytes', async () => {
        const small = await open({ clock, history: { minEvents: 2, maxEvents: 4, maxBytes: 1_000 } });
        try {
          const revisions: number[] = [];
          for (let i = 0; i < 10; i++) revisions.push(await put(small, `/h/${i}`, 'x'));
          expect(await compactedWatch(small, '', revisions[5]!)).toBeInstanceOf(Compacted);
          small.watch('', revisions[6]!, () => undefined).close();
          for (let i = 10; i < 13; i++) revisions.push(await put(small, `/h/${i}`, 'x'.repeat(900)));
          expect(await compactedWatch(small, '', revisions[10]!)).toBeInstanceOf(Compacted);
          small.watch('', revisions[11]!, () => undefined).close();
        } finally {
          await small.close();
        }
      });
    });

    describe.runIf(isClocked)('time to live', () => {
      test('a key is removed after its seconds, as a change like any other', async () => {
        const revision = await engine.commit({ type: 'put', key: '/ttl/a', value: bytes('x'), expected: 0, ttlSeconds: 10 });
        await put(engine, '/ttl/stays', 'x');
        clock.pass(9_999);
        expect(await engine.get('/ttl/a')).toBeDefined();
        const removal = await whenGone(engine, '/ttl/a');
        clock.pass(1);
        expect(await removal.event).toMatchObject({ type: 'delete', key: '/ttl/a', previous: { revision, value: bytes('x') } });
        expect(await keysOf('/ttl/')).toEqual(['/ttl/stays']);
      });

      test('a later write sets or ends its time anew', async () => {
        const renewed = await engine.commit({ type: 'put', key: '/ttl/renewed', value: bytes('x'), expected: 0, ttlSeconds: 10 });
        const kept = await engine.commit({ type: 'put', key: '/ttl/kept', value: bytes('x'), expected: 0, ttlSeconds: 10 });
        await engine.commit({ type: 'put', key: '/ttl/renewed', value: bytes('y'), expected: renewed, ttlSeconds: 30 });
        await put(engine, '/ttl/kept', 'y', kept);
        await engine.commit({ type: 'put', key: '/ttl/short', value: bytes('x'), expected: 0, ttlSeconds: 11 });
        const short = await whenGone(engine, '/ttl/short');
        clock.pass(12_000);
        await short.event;
        expect(await keysOf('/ttl/')).toEqual(['/ttl/kept', '/ttl/renewed']);
        const removal = await whenGone(engine, '/ttl/renewed');
        clock.pass(20_000);
        await removal.event;
        expect(await keysOf('/ttl/')).toEqual(['/ttl/kept']);
      });
    });

    test('a closed engine refuses, and closing waits for what was begun', async () => {
      const begun = [put(engine, '/a', 'x'), put(engine, '/b', 'x'), put(engine, '/a', 'y').catch(() => 0)];
      await engine.checkHealth();
      await engine.close();
      expect((await Promise.all(begun)).filter((revision) => revision > 0)).toHaveLength(2);
      await expect(put(engine, '/c', 'x')).rejects.toThrow(StorageUnavailable);
      await expect(engine.get('/a')).rejects.toThrow(StorageUnavailable);
      await expect(engine.checkHealth()).rejects.toThrow(StorageUnavailable);
      await engine.close();
    });
  });
}

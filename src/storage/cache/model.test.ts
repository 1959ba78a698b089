import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Compacted, type Engine } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import type { CacheEntry, CacheEvent, ObjectCache } from './cache.ts';
import { CacheFeed } from './feed.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/things/';
const OTHER = '/registry/others/';
const NAMESPACES = ['a', 'b', 'c'];
const OPERATIONS = 400;

/** Mulberry32: the same seed, the same run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The naive truth: every state there ever was, and every event. */
class Model {
  readonly states = new Map<number, Map<string, number>>();
  readonly events: { type: string; key: string; revision: number }[] = [];
  current = new Map<string, number>();

  record(key: string, revision: number, isDelete: boolean): void {
    if (key.startsWith(PREFIX)) {
      const type = isDelete ? 'DELETED' : this.current.has(key) ? 'MODIFIED' : 'ADDED';
      this.events.push({ type, key, revision });
      this.current = new Map(this.current);
      if (isDelete) this.current.delete(key);
      else this.current.set(key, revision);
    }
    this.states.set(revision, this.current);
  }

  list(prefix: string, revision: number): string[] {
    return [...this.states.get(revision)!]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, at]) => `${key}@${at}`)
      .toSorted();
  }

  eventsAfter(prefix: string, revision: number): string[] {
    return this.events.filter((event) => event.revision > revision && event.key.startsWith(prefix)).map(show);
  }
}

const show = ({ type, key, revision }: { type: string; key: string; revision: number }): string => `${type} ${key}@${revision}`;
const shown = ({ key, revision }: CacheEntry): string => `${key}@${revision}`;
const value = (key: string): Buffer => Buffer.from(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"${key}","uid":"u"}}`);

class Run {
  readonly random: () => number;
  readonly engine: Engine;
  readonly clock = new FakeClock();
  readonly model = new Model();
  readonly watches: { prefix: string; after: number; seen: string[] }[] = [];
  readonly mistakes: string[] = [];
  cache!: ObjectCache;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    this.engine = openMemoryEngine({ clock: this.clock });
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }

  prefix(): string {
    return this.random() < 0.5 ? PREFIX : `${PREFIX}${this.pick(NAMESPACES)}/`;
  }

  async change(): Promise<void> {
    const key = `${this.random() < 0.2 ? OTHER : PREFIX}${this.pick(NAMESPACES)}/${Math.floor(this.random() * 6)}`;
    const expected = (await this.engine.get(key))?.revision ?? 0;
    const isDelete = expected > 0 && this.random() < 0.4;
    const revision = await this.engine.commit(isDelete ? { type: 'delete', key, expected } : { type: 'put', key, value: value(key), expected });
    this.model.record(key, revision, isDelete);
  }

  check(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected)) this.mistakes.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }

  /** A revision of any age; lists of it are right or refused. */
  checkList(): void {
    const revision = this.pick([...this.model.states.keys()]);
    const prefix = this.prefix();
    try {
      const { entries } = this.cache.list(prefix, { revision });
      this.check(`list of ${prefix} at ${revision}`, entries.map(shown), this.model.list(prefix, revision));
    } catch (error) {
      this.check(`refusal of ${revision}`, error instanceof Compacted && error.oldestRevision > revision, true);
    }
  }

  /** Pages of the current state, with changes between them, show that state. */
  async checkPages(): Promise<void> {
    const prefix = this.prefix();
    const limit = 1 + Math.floor(this.random() * 5);
    const seen: string[] = [];
    let page = this.cache.list(prefix, { limit });
    const { revision } = page;
    const expected = this.model.list(prefix, revision);
    for (;;) {
      seen.push(...page.entries.map(shown));
      this.check(`remaining of ${prefix} at ${revision}`, page.remaining, expected.length - seen.length);
      if (!page.hasMore) break;
      await this.change();
      page = this.cache.list(prefix, { limit, after: page.lastKey!, revision });
    }
    this.check(`pages of ${prefix} at ${revision}`, seen, expected);
  }

  startWatch(): void {
    const after = this.pick([...this.model.states.keys()]);
    const prefix = this.prefix();
    const seen: string[] = [];
    try {
      this.cache.watch(
        prefix,
        after,
        (event: CacheEvent) => seen.push(show(event)),
        (error) => this.mistakes.push(error.message),
      );
      this.watches.push({ prefix, after, seen });
    } catch (error) {
      this.check(`refusal to watch from ${after}`, error instanceof Compacted && error.oldestRevision > after, true);
    }
  }

  checkWatches(): void {
    for (const { prefix, after, seen } of this.watches) this.check(`watch of ${prefix} after ${after}`, seen, this.model.eventsAfter(prefix, after));
  }
}

describe('a cache against a naive model', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', async (seed) => {
    const run = new Run(seed);
    for (let i = 0; i < 10; i++) await run.change();
    run.cache = openCache(new CacheFeed(run.engine, { clock: run.clock }), PREFIX, {
      history: { minEvents: 10, maxEvents: 60, maxBytes: 1_000_000, freshMs: 75_000 },
    });
    await run.cache.ready;
    for (let i = 0; i < OPERATIONS; i++) {
      const dice = run.random();
      if (dice < 0.6) await run.change();
      else if (dice < 0.8) run.checkList();
      else if (dice < 0.9) await run.checkPages();
      else if (dice < 0.97) run.startWatch();
      else run.clock.pass(Math.floor(run.random() * 60_000));
      run.check('count', run.cache.count, run.model.current.size);
    }
    run.checkWatches();
    expect(run.mistakes).toEqual([]);
    expect(run.watches.length).toBeGreaterThan(3);
  });
});

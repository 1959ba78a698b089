import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Random } from '../../util/test-random.ts';
import { Compacted, type Engine } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { FakeClock } from '../fake-clock.ts';
import { NAME } from './attributes.ts';
import type { Attribute, CacheEntry, CacheEvent, CacheList, CacheSelection, ObjectCache } from './cache.ts';
import { CacheFeed } from './feed.ts';
import { openCache } from './object-cache.ts';

const PREFIX = '/registry/things/';
const NAMESPACES = ['a', 'b', 'c'];
/** As a node's name, a phase: some objects have none. */
const VALUES = ['', 'x', 'y', 'z'];
const OPERATIONS = 500;

interface Thing {
  metadata: { labels?: Record<string, string> };
  spec?: { node?: string };
}

const NODE: Attribute = { valueOf: (entry) => entry.object<Thing>().spec?.node ?? '' };
const APP: Attribute = { label: 'app' };
const TIER: Attribute = { label: 'tier' };
const ATTRIBUTES = [NODE, APP, TIER, NAME];

const valueIn = (attribute: Attribute, entry: CacheEntry): string | undefined =>
  attribute.label === undefined ? attribute.valueOf(entry) : entry.object<Thing>().metadata.labels?.[attribute.label];

const shown = ({ key, revision }: CacheEntry): string => `${key}@${revision}`;
const shownEvent = ({ type, entry }: { type: string; entry: CacheEntry }): string => `${type} ${shown(entry)}`;

/** What a watcher with this selection is told of a change: see src/registry/read.ts. */
function told(event: CacheEvent, matches: (entry: CacheEntry) => boolean): string | undefined {
  const isIn = event.type !== 'DELETED' && matches(event.entry);
  const wasIn = event.previous !== undefined && matches(event.previous);
  if (isIn) return shownEvent({ type: wasIn ? 'MODIFIED' : 'ADDED', entry: event.entry });
  return wasIn ? shownEvent({ type: 'DELETED', entry: event.asDeleted() }) : undefined;
}

class Run {
  readonly #random: Random;
  readonly engine: Engine;
  readonly clock = new FakeClock();
  readonly revisions: number[] = [];
  readonly watches: { what: string; found: string[]; scanned: string[]; close(): void }[] = [];
  readonly mistakes: string[] = [];
  cache!: ObjectCache;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.engine = openMemoryEngine({ clock: this.clock });
  }

  random(): number {
    return this.#random.next();
  }

  pick<T>(items: readonly T[]): T {
    return this.#random.pick(items);
  }

  prefix(): string {
    return this.random() < 0.5 ? PREFIX : `${PREFIX}${this.pick(NAMESPACES)}/`;
  }

  #labels(): Record<string, string> {
    const labels: Record<string, string> = {};
    for (const key of ['app', 'tier', 'other']) if (this.random() < 0.6) labels[key] = this.pick(VALUES);
    return labels;
  }

  async change(): Promise<void> {
    const key = `${PREFIX}${this.pick(NAMESPACES)}/${this.pick(['x', 'y', 'n1', 'n2', 'n3'])}`;
    const expected = (await this.engine.get(key))?.revision ?? 0;
    const thing = { kind: 'Thing', apiVersion: 'v1', metadata: { name: key, labels: this.#labels() }, spec: { node: this.pick(VALUES) } };
    const value = Buffer.from(JSON.stringify(thing));
    const isDelete = expected > 0 && this.random() < 0.3;
    this.revisions.push(await this.engine.commit(isDelete ? { type: 'delete', key, expected } : { type: 'put', key, value, expected }));
  }

  /** With an equality that is looked up, mostly, and something else beside it, sometimes. */
  selection(): CacheSelection & { what: string } {
    const by = this.pick(ATTRIBUTES);
    const values = [...new Set(Array.from({ length: this.random() < 0.6 ? 1 : 3 }, () => this.pick(VALUES)))];
    const other = this.random() < 0.3 ? this.pick(VALUES) : undefined;
    const namespace = this.random() < 0.2 ? this.pick(NAMESPACES) : undefined;
    const within = namespace === undefined ? undefined : `${PREFIX}${namespace}/`;
    const matches = (entry: CacheEntry): boolean => {
      const value = valueIn(by, entry);
      if (value === undefined || !values.includes(value)) return false;
      return (other === undefined || valueIn(TIER, entry) !== other) && (within === undefined || entry.key.startsWith(within));
    };
    return { matches, within, lookup: { by, values }, what: `${by.label ?? ATTRIBUTES.indexOf(by)} in ${values} and not ${other} of ${namespace}` };
  }

  check(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected)) this.mistakes.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }

  /** The list that an index gives has what a scan finds, page by page, with changes in between. */
  async checkList(): Promise<void> {
    const { what, ...selection } = this.selection();
    const prefix = this.prefix();
    const limit = this.random() < 0.5 ? 1 + Math.floor(this.random() * 4) : Infinity;
    const revision = this.random() < 0.2 ? this.pick(this.revisions) : undefined;
    let options = { limit, ...(revision !== undefined && { revision }) };
    for (;;) {
      const found = await this.#outcome(() => this.cache.select(prefix, selection, options));
      const scanned = await this.#outcome(() => this.cache.select(prefix, { matches: selection.matches }, options));
      this.check(`list of ${what} under ${prefix}`, found.shown, scanned.shown);
      if (!found.list?.hasMore) return;
      if (this.random() < 0.5) await this.change();
      const after = { after: found.list.lastKey! };
      options = { limit, ...after, ...(this.random() < 0.8 && { revision: found.list.revision }) };
    }
  }

  async #outcome(select: () => CacheList | Promise<CacheList>): Promise<{ list?: CacheList; shown: unknown }> {
    try {
      const list = await select();
      const { hasMore, remaining, revision, lastKey } = list;
      return { list, shown: { entries: list.entries.map(shown), revision, hasMore, remaining, lastKey: hasMore ? lastKey : undefined } };
    } catch (error) {
      return { shown: error instanceof Compacted ? error.oldestRevision : (error as Error).message };
    }
  }

  /** Two watches of the same, of which one is looked up. */
  startWatch(): void {
    const { what, ...selection } = this.selection();
    const after = this.pick(this.revisions.slice(-40));
    const prefix = this.prefix();
    const watch = { what: `${what} under ${prefix} after ${after}`, found: [] as string[], scanned: [] as string[] };
    const sinkOf = (seen: string[]) => (event: CacheEvent) => {
      const shownOne = told(event, selection.matches);
      if (shownOne !== undefined) seen.push(shownOne);
    };
    const onError = (error: Error): number => this.mistakes.push(error.message);
    try {
      const looked = this.cache.watch(prefix, after, sinkOf(watch.found), onError, selection);
      const plain = this.cache.watch(prefix, after, sinkOf(watch.scanned), onError);
      this.watches.push({ ...watch, close: () => [looked, plain].forEach((each) => each.close()) });
    } catch (error) {
      this.check(`refusal to watch from ${after}`, error instanceof Compacted && error.oldestRevision > after, true);
    }
  }

  checkWatches(): void {
    for (const { what, found, scanned } of this.watches) this.check(`watch of ${what}`, found, scanned);
  }
}

describe('lists and watches by index are those by scan', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', async (seed) => {
    const run = new Run(seed);
    for (let i = 0; i < 10; i++) await run.change();
    run.cache = openCache(new CacheFeed(run.engine, { clock: run.clock }), PREFIX, {
      history: { minEvents: 10, maxEvents: 60, maxBytes: 1_000_000, freshMs: 75_000 },
    });
    await run.cache.ready;
    for (let i = 0; i < OPERATIONS; i++) {
      const dice = run.random();
      if (dice < 0.55) await run.change();
      else if (dice < 0.8) await run.checkList();
      else if (dice < 0.92) run.startWatch();
      else if (dice < 0.96 && run.watches.length > 0) run.pick(run.watches).close();
      // Long enough for indexes that nobody uses to be dropped.
      else run.clock.pass(Math.floor(run.random() * 400_000));
    }
    run.checkWatches();
    expect(run.mistakes).toEqual([]);
    expect(run.watches.filter(({ found }) => found.length > 0).length).toBeGreaterThan(5);
  });
});

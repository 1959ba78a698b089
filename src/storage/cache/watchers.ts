import { PrefixIndex } from '../prefix-index.ts';
import type { AttributeIndex } from './attribute-index.ts';
import { labelsOf, nextOf, valueOf } from './attributes.ts';
import type { CacheEvent, FieldAttribute, Lookup } from './cache.ts';
import type { CacheChange } from './history.ts';

export interface Watcher {
  readonly prefix: string;
  readonly lookup: Lookup | undefined;
  /** Of what it is looked up by. */
  readonly index: AttributeIndex | undefined;
  readonly after: number;
  /** The last change that it heard of, first from history: one that is found for a change twice hears of it once. */
  heard: number;
  readonly sink: (event: CacheEvent) => void;
  readonly onError: (error: Error) => void;
  isClosed: boolean;
  /** Hears of what differs when the store is taken to another state; the watches of others end then. */
  readonly followsResets: boolean;
}

type ByValue = Map<string, Set<Watcher>>;

/** The watchers of one prefix. */
interface Group {
  readonly prefix: string;
  size: number;
  /** Those who hear of every change. */
  readonly unindexed: Set<Watcher>;
  readonly byField: Map<FieldAttribute, ByValue>;
  readonly byLabel: Map<string, ByValue>;
}

/**
 * Watchers, found by what they watch: by the prefix of their keys, then by the value that their selector demands of a field or label. A change costs a
 * lookup for each field that anybody selects by and for each of the object's own labels, whatever the number of watchers.
 */
export class Watchers {
  readonly #groups = new Map<string, Group>();
  readonly #byPrefix = new PrefixIndex<Group>();

  add(watcher: Watcher): void {
    const group = this.#groupOf(watcher.prefix);
    group.size++;
    if (watcher.lookup === undefined) return void group.unindexed.add(watcher);
    const byValue = byValueOf(group, watcher.lookup);
    for (const value of watcher.lookup.values) {
      const found = byValue.get(value);
      if (found) found.add(watcher);
      else byValue.set(value, new Set([watcher]));
    }
  }

  /** It was added, and is not yet removed. */
  remove(watcher: Watcher): void {
    const group = this.#groups.get(watcher.prefix)!;
    if (watcher.lookup === undefined) group.unindexed.delete(watcher);
    else removeFrom(group, watcher, watcher.lookup);
    if (--group.size > 0) return;
    this.#groups.delete(group.prefix);
    this.#byPrefix.remove(group.prefix, group);
  }

  /** Calls with all whose selection the object was or is in, as far as the indexed part of it tells; those of several values may be called with twice. */
  forEachOf(change: CacheChange, visit: (watcher: Watcher) => void): void {
    this.#byPrefix.forEachUnder(change.key, (group) => {
      group.unindexed.forEach(visit);
      try {
        visitByField(group, change, visit);
        visitByLabel(group, change, visit);
      } catch {
        // An object that can not be read: they all find out so.
        for (const watcher of indexedOf(group)) visit(watcher);
      }
    });
  }

  *[Symbol.iterator](): Iterator<Watcher> {
    for (const group of this.#groups.values()) {
      yield* group.unindexed;
      yield* new Set(indexedOf(group));
    }
  }

  #groupOf(prefix: string): Group {
    let group = this.#groups.get(prefix);
    if (group === undefined) {
      group = { prefix, size: 0, unindexed: new Set(), byField: new Map(), byLabel: new Map() };
      this.#groups.set(prefix, group);
      this.#byPrefix.add(prefix, group);
    }
    return group;
  }
}

function byValueOf(group: Group, { by }: Lookup): ByValue {
  if (by.label !== undefined) return madeIn(group.byLabel, by.label);
  return madeIn(group.byField, by);
}

function madeIn<K>(maps: Map<K, ByValue>, key: K): ByValue {
  let byValue = maps.get(key);
  if (byValue === undefined) maps.set(key, (byValue = new Map()));
  return byValue;
}

function removeFrom(group: Group, watcher: Watcher, { by, values }: Lookup): void {
  const byValue = byValueOf(group, { by, values });
  for (const value of values) {
    const found = byValue.get(value)!;
    found.delete(watcher);
    if (found.size === 0) byValue.delete(value);
  }
  if (byValue.size > 0) return;
  if (by.label === undefined) group.byField.delete(by);
  else group.byLabel.delete(by.label);
}

function visitByField({ byField }: Group, change: CacheChange, visit: (watcher: Watcher) => void): void {
  for (const [attribute, byValue] of byField) {
    const before = valueOf(attribute, change.previous);
    const after = valueOf(attribute, nextOf(change));
    if (before !== undefined) byValue.get(before)?.forEach(visit);
    if (after !== undefined && after !== before) byValue.get(after)?.forEach(visit);
  }
}

function visitByLabel({ byLabel }: Group, change: CacheChange, visit: (watcher: Watcher) => void): void {
  if (byLabel.size === 0) return;
  const before = labelsOf(change.previous);
  const after = labelsOf(nextOf(change));
  for (const key of Object.keys(before)) byLabel.get(key)?.get(before[key]!)?.forEach(visit);
  for (const key of Object.keys(after)) if (after[key] !== before[key]) byLabel.get(key)?.get(after[key]!)?.forEach(visit);
}

function* indexedOf({ byField, byLabel }: Group): Iterable<Watcher> {
  for (const maps of [byField, byLabel]) for (const byValue of maps.values()) for (const found of byValue.values()) yield* found;
}

import type { TimeSlice } from '../../util/time-slice.ts';
import { compareKeys } from '../key-order.ts';
import { type OrderedMap, orderedMap } from '../ordered-map.ts';
import { nextOf, valueOf } from './attributes.ts';
import type { Attribute } from './cache.ts';
import type { StoredEntry } from './entry.ts';
import type { CacheChange } from './history.ts';
import { RevisionLog } from './revision-log.ts';
import { Scan } from './scan.ts';

type Tree = OrderedMap<string, StoredEntry>;

const UNREADABLE = Symbol('unreadable');
/** Undefined: the entry has no such label. */
type Value = string | undefined | typeof UNREADABLE;

/** Under which an entry with this value is found: keys of one value lie together, in their own order. */
export const indexKey = (value: string, key: string): string => `${value}\0${key}`;

/**
 * The entries of one cache by the value of one field or label, and the recent changes by the values that they concern. Made when somebody first selects by
 * it, kept up to date with every change. About 130 bytes for each object that has the value.
 *
 *     made → (asked for a list) building, in slices → complete → dropped, when nobody has selected by it for a while
 */
export class AttributeIndex {
  readonly attribute: Attribute;
  /** Begun anew with a change that can not be read: it may concern anybody. */
  log: RevisionLog;
  watchers = 0;
  usedAtMs = 0;
  isDropped = false;
  /** Resolves when it is built, or dropped. Undefined unless that takes more than one slice. */
  building: Promise<void> | undefined;
  #state: Tree | undefined;
  /** Keys up to that of its last entry are in the index. Undefined when all are. */
  #build: Scan | undefined;
  /** Entries that can not be decoded. While there are any, lists are made by looking at all, and fail as they do without an index. */
  #unreadable = 0;
  /** Entries that were looked at for want of an index. */
  #looked = 0;

  constructor(attribute: Attribute, since: number) {
    this.attribute = attribute;
    this.log = new RevisionLog(since);
  }

  /** All that is in the cache was taken in. */
  get isComplete(): boolean {
    return this.#state !== undefined && this.#build === undefined;
  }

  /** By `indexKey`. Undefined where it can not be used. */
  get state(): Tree | undefined {
    return this.isComplete && this.#unreadable === 0 ? this.#state : undefined;
  }

  /**
   * Whether a list that would have to look at `entries` of the cache's `all` entries should have an index made instead. One is made when looking has cost
   * what making it costs: whoever lists a small namespace by ever other labels does not have the whole cluster indexed each time.
   */
  pays(entries: number, all: number): boolean {
    if (this.#build !== undefined) return true;
    this.#looked += entries;
    return this.#looked >= all;
  }

  /** Takes in what is in the cache; false where the slice is spent before all is. */
  build(tree: Tree, range: { start: string; end: string }, slice: TimeSlice): boolean {
    if (this.#state === undefined) {
      this.#state = orderedMap<string, StoredEntry>(compareKeys);
      const add = (entry: StoredEntry): boolean => {
        this.#add(entry, this.#read(entry));
        return false;
      };
      // Of the cache's own tree, whatever becomes of it between two slices: changes of keys that were passed come by `apply`.
      this.#build = new Scan(tree, { ...range, listEnd: range.end, limit: Infinity, revision: 0, isCurrent: true }, add);
    }
    if (this.#build?.goOn(slice)) this.#build = undefined;
    return this.isComplete;
  }

  apply(change: CacheChange): void {
    const { previous } = change;
    const next = nextOf(change);
    const before = this.#read(previous);
    const after = this.#read(next);
    if (before === UNREADABLE || after === UNREADABLE) this.log = new RevisionLog(change.revision);
    else {
      if (before !== undefined) this.log.add(before, change.revision);
      if (after !== undefined && after !== before) this.log.add(after, change.revision);
    }
    if (this.#state === undefined || this.#isAhead(change.key)) return;
    if (previous && (before !== after || before === UNREADABLE)) this.#remove(previous.key, before);
    if (next) this.#add(next, after);
  }

  #isAhead(key: string): boolean {
    if (this.#build === undefined) return false;
    const { lastKey } = this.#build;
    return lastKey === undefined || compareKeys(key, lastKey) > 0;
  }

  #read(entry: StoredEntry | undefined): Value {
    try {
      return valueOf(this.attribute, entry);
    } catch {
      return UNREADABLE;
    }
  }

  #add(entry: StoredEntry, value: Value): void {
    if (value === UNREADABLE) this.#unreadable++;
    else if (value !== undefined) this.#state!.set(indexKey(value, entry.key), entry);
  }

  #remove(key: string, value: Value): void {
    if (value === UNREADABLE) this.#unreadable--;
    else if (value !== undefined) this.#state!.delete(indexKey(value, key));
  }
}

import type { TimeSlice } from '../../util/time-slice.ts';
import { compareKeys } from '../key-order.ts';
import type { OrderedMap } from '../ordered-map.ts';
import { indexKey } from './attribute-index.ts';
import type { StoredEntry } from './entry.ts';
import { Scan, type ScanRange, type Search, keyBehind } from './scan.ts';

type Tree = OrderedMap<string, StoredEntry>;

/** Looks only at those entries that an index has under one of some values. Finds what a scan of the cache's own tree would. */
export class IndexScan implements Search {
  entries: StoredEntry[] = [];
  readonly range: ScanRange;
  lastKey: string | undefined;
  remaining = 0;
  #tree: Tree;
  #isHeld = false;
  readonly #parts: Scan[];
  #part = 0;

  constructor(tree: Tree, index: Tree, values: readonly string[], range: ScanRange, matches: (entry: StoredEntry) => boolean) {
    this.#tree = tree;
    this.range = range;
    this.#parts = values.map((value) => {
      const end = indexKey(value, range.end);
      return new Scan(index, { ...range, start: indexKey(value, range.start), end, listEnd: end, keyCount: undefined }, matches);
    });
  }

  get fetched(): number {
    return this.#parts.reduce((sum, { fetched }) => sum + fetched, 0);
  }

  goOn(slice?: TimeSlice): boolean {
    for (; this.#part < this.#parts.length; this.#part++) if (!this.#parts[this.#part]!.goOn(slice)) return false;
    this.#finish();
    return true;
  }

  holdState(): Tree {
    if (this.#isHeld) return this.#tree;
    this.#isHeld = true;
    this.#tree = this.#tree.clone();
    // One clone for all of them would do; there are few.
    for (const part of this.#parts) part.holdState();
    return this.#tree;
  }

  /** Of each value as many were looked for as the list may have. */
  #finish(): void {
    const { limit, listEnd } = this.range;
    const found = this.#parts.flatMap(({ entries }) => entries);
    if (this.#parts.length > 1) found.sort((a, b) => compareKeys(a.key, b.key));
    this.entries = found.length > limit ? found.slice(0, limit) : found;
    this.lastKey = this.entries.at(-1)?.key;
    if (this.entries.length >= limit) this.remaining = this.#tree.forRange(keyBehind(this.lastKey!), listEnd, false);
  }
}

import type { TimeSlice } from '../../util/time-slice.ts';
import type { OrderedMap } from '../ordered-map.ts';
import type { StoredEntry } from './entry.ts';

export interface ScanRange {
  /** What is looked at. */
  readonly start: string;
  readonly end: string;
  /** Where the list ends, of which that is a part. */
  readonly listEnd: string;
  readonly limit: number;
  /** Of the state that is looked at. */
  readonly revision: number;
  /** It is the newest one. */
  readonly isCurrent: boolean;
  /** How many keys there are from the start to the list's end; undefined where they have to be counted. */
  readonly keyCount?: number | undefined;
}

const STOP = { break: true };
/** Entries between two looks at the clock, less one; a power of two, less one. */
const UNTIMED_ENTRIES = 15;

/** Looks for the entries of one state that match, in as many goes as it takes. */
export interface Search {
  readonly entries: StoredEntry[];
  /** How many were looked at. */
  readonly fetched: number;
  readonly range: ScanRange;
  /** Of the last entry looked at. */
  readonly lastKey: string | undefined;
  /** Keys behind the last entry, where the limit was reached. */
  readonly remaining: number;
  /** Until the end, the limit, or the slice is spent, which is answered with false. */
  goOn(slice?: TimeSlice): boolean;
  /** The state as it is now, whatever is written from now on. */
  holdState(): OrderedMap<string, StoredEntry>;
}

/** Looks at all of them, one after the other. */
export class Scan implements Search {
  readonly entries: StoredEntry[] = [];
  readonly range: ScanRange;
  lastKey: string | undefined;
  fetched = 0;
  remaining = 0;
  #tree: OrderedMap<string, StoredEntry>;
  #isHeld = false;
  readonly #matches: ((entry: StoredEntry) => boolean) | undefined;

  constructor(tree: OrderedMap<string, StoredEntry>, range: ScanRange, matches?: (entry: StoredEntry) => boolean) {
    this.#tree = tree;
    this.range = range;
    this.#matches = matches;
  }

  goOn(slice?: TimeSlice): boolean {
    const { start, end, listEnd, limit, keyCount } = this.range;
    const { entries } = this;
    const matches = this.#matches;
    let isSpent = false;
    let looked = 0;
    let last = this.lastKey;
    this.#tree.forRange(last === undefined ? start : keyBehind(last), end, false, (key, entry) => {
      last = key;
      looked++;
      if ((matches === undefined || matches(entry)) && entries.push(entry) >= limit) return STOP;
      isSpent = slice !== undefined && (looked & UNTIMED_ENTRIES) === UNTIMED_ENTRIES && slice.isSpent;
      return isSpent ? STOP : undefined;
    });
    this.lastKey = last;
    this.fetched += looked;
    if (entries.length >= limit && last !== undefined)
      this.remaining = keyCount === undefined ? this.#tree.forRange(keyBehind(last), listEnd, false) : keyCount - this.fetched;
    return !isSpent;
  }

  holdState(): OrderedMap<string, StoredEntry> {
    if (!this.#isHeld && this.range.isCurrent) this.#tree = this.#tree.clone();
    this.#isHeld = true;
    return this.#tree;
  }
}

/** The first key beyond this one. */
export const keyBehind = (key: string): string => `${key}\0`;

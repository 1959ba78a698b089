import type { ApiObject } from '../../api/api-object.ts';
import { parseOwnJson } from '../../encoding/json.ts';
import { typePrefixLength } from '../../storage/client-json.ts';
import type { CacheEntry, CacheList, CacheSelectOptions, CacheSelection, ObjectCache } from '../../storage/cache/cache.ts';
import type { Subscription } from '../../storage/engine.ts';
import { compareKeys } from '../../storage/key-order.ts';
import { TimeSlice } from '../../util/time-slice.ts';

/** A version of an object that is in no cache. */
export class PastEntry implements CacheEntry {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Buffer;
  readonly typePrefixLength: number;
  #object: unknown;

  /** `bytes`: as of CacheEntry. */
  constructor(key: string, revision: number, bytes: Buffer) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
    this.typePrefixLength = typePrefixLength(bytes);
  }

  object<T = ApiObject>(): T {
    this.#object ??= parseOwnJson(this.bytes);
    return this.#object as T;
  }

  form(_name: string, make: () => Buffer): Buffer {
    return make();
  }
}

/** The objects of a resource as they were at a moment, or as many of them as a request asks for. */
export class PastCache implements ObjectCache {
  readonly ready = Promise.resolve();
  readonly isSynced = true;
  readonly isLoaded = true;
  readonly revision: number;
  readonly #entries: readonly CacheEntry[];
  readonly #byKey: ReadonlyMap<string, CacheEntry>;

  constructor(entries: Iterable<CacheEntry>, revision: number) {
    this.#entries = [...entries].toSorted((a, b) => compareKeys(a.key, b.key));
    this.#byKey = new Map(this.#entries.map((entry) => [entry.key, entry]));
    this.revision = revision;
  }

  get count(): number {
    return this.#entries.length;
  }

  retryLoad(): Promise<void> {
    return this.ready;
  }

  freshen(): undefined {
    return undefined;
  }

  waitFor(): undefined {
    return undefined;
  }

  get(key: string): CacheEntry | undefined {
    return this.#byKey.get(key);
  }

  list(prefix: string, { after, limit = Infinity }: CacheSelectOptions = {}): CacheList {
    const within = this.#within(prefix, after);
    const entries = within.slice(0, limit);
    return this.#listOf(entries, within, entries.length);
  }

  /** Objects may have to be parsed to be looked at. */
  async select(prefix: string, { matches }: CacheSelection, { after, limit = Infinity, checkWanted }: CacheSelectOptions = {}): Promise<CacheList> {
    const slice = new TimeSlice();
    const within = this.#within(prefix, after);
    const entries: CacheEntry[] = [];
    let fetched = 0;
    for (; fetched < within.length && entries.length < limit; fetched++) {
      if (matches(within[fetched]!)) entries.push(within[fetched]!);
      if (!slice.isSpent) continue;
      await slice.next();
      checkWanted?.();
    }
    return this.#listOf(entries, within, fetched);
  }

  #within(prefix: string, after: string | undefined): readonly CacheEntry[] {
    return this.#entries.filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0));
  }

  #listOf(entries: CacheEntry[], within: readonly CacheEntry[], fetched: number): CacheList {
    const remaining = within.length - fetched;
    return { entries, fetched, revision: this.revision, lastKey: within[fetched - 1]?.key, hasMore: remaining > 0, remaining };
  }

  entryAt(): CacheEntry {
    throw readOnly();
  }

  watch(): Subscription {
    throw readOnly();
  }

  onProgress(): Subscription {
    return { close() {} };
  }

  async reload(): Promise<void> {}

  image(): undefined {
    return undefined;
  }

  close(): void {}
}

const readOnly = (): Error => new Error('the past is only read');

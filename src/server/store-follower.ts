import type { Concerns } from '../client/client.ts';
import { LARGE_BYTES } from '../registry/request-context.ts';
import type { ListOptions, ListResult, ResourceStore, WatchOptions, WatchSink } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { Subscription } from '../storage/engine.ts';
import type { ApiObject } from '../api/api-object.ts';
import { EVERY_FIELD } from '../api/field-selector.ts';
import { EVERY_LABEL } from '../api/label-selector.ts';
import { nextTurn } from '../util/time-slice.ts';

export type ChangeListener<T> = (object: T | undefined, old: T | undefined) => void;

export const LIST_ALL: ListOptions = {
  selection: { labels: EVERY_LABEL, fields: EVERY_FIELD },
  limit: 0,
  continue: '',
  resourceVersion: '0',
  resourceVersionMatch: '',
};
const WATCH: Omit<WatchOptions, 'resourceVersion'> = {
  selection: LIST_ALL.selection,
  resourceVersionMatch: '',
  allowBookmarks: false,
  sendInitialEvents: false,
  followsResets: true,
};
const RETRY_MS = 1_000;

const isLarge = (entry: CacheEntry | undefined): boolean => entry !== undefined && entry.bytes.length > LARGE_BYTES;

/**
 * Tells a listener of every change of a store, each once and in order. Where the store's cache has a gap, because the way to the engine was broken for
 * longer than history is kept, it tells what is other after the gap than it was before. What the listener throws ends it.
 */
export class StoreFollower<T extends ApiObject> implements Subscription {
  readonly #store: ResourceStore<T>;
  readonly #listener: ChangeListener<T>;
  readonly #concerns: Concerns;
  #watching: Subscription | undefined;
  #isClosed = false;
  /** Changes that wait for a turn of their own, and those behind them. */
  readonly #delayed: (readonly [CacheEntry | undefined, CacheEntry | undefined])[] = [];

  constructor(store: ResourceStore<T>, listener: ChangeListener<T>, concerns: Concerns) {
    this.#store = store;
    this.#listener = listener;
    this.#concerns = concerns;
    const state = this.#atHand();
    // Before the store is loaded there is no revision to follow from: what is loaded counts as changes then.
    if (state.revision > 0) this.#follow(state);
    else void this.#bridge(state);
  }

  close(): void {
    this.#isClosed = true;
    this.#watching?.close();
  }

  #atHand(): ListResult {
    const state = this.#store.list('', LIST_ALL);
    if (state instanceof Promise) throw new Error(`reading ${this.#store.definition.plural} from the cache had to wait`);
    return state;
  }

  #follow(state: ListResult): void {
    const options = { ...WATCH, resourceVersion: String(state.revision), sendInitialEvents: state.revision === 0 };
    this.#store.watch('', options, this.#sink()).then(
      (watching) => {
        this.#watching = watching;
        if (this.#isClosed) watching.close();
      },
      () => void this.#bridge(state),
    );
  }

  #sink(): WatchSink {
    return {
      send: (type, entry, event) => this.#receive(type === 'DELETED' ? undefined : entry, event?.previous),
      bookmark() {},
      // The cache still has what it had before the gap.
      fail: () => void this.#bridge(this.#atHand()),
      end() {},
    };
  }

  /** A large object takes long to be decoded and to be looked at: that is not done in the turn in which it was written. */
  #receive(entry: CacheEntry | undefined, previous: CacheEntry | undefined): void {
    if (this.#delayed.length === 0 && !isLarge(entry) && !isLarge(previous)) return this.#tell(entry, previous);
    if (this.#delayed.push([entry, previous]) === 1) void this.#tellDelayed();
  }

  async #tellDelayed(): Promise<void> {
    while (this.#delayed.length > 0) {
      const [entry, previous] = this.#delayed[0]!;
      try {
        // Decoding is one turn's work, what is done with the objects another's. Entries do not keep what is decoded: it is held here.
        await nextTurn();
        const objects = this.#isConcerned(entry, previous) ? [entry?.object()] : [];
        await nextTurn();
        if (objects.length > 0) objects.push(previous?.object());
        await nextTurn();
        this.#tell(entry, previous);
        objects.length = 0;
      } catch {
        this.close();
      }
      this.#delayed.shift();
    }
  }

  #isConcerned(entry: CacheEntry | undefined, previous: CacheEntry | undefined): boolean {
    return entry === undefined || this.#concerns(entry.bytes) || (previous !== undefined && this.#concerns(previous.bytes));
  }

  #tell(entry: CacheEntry | undefined, previous: CacheEntry | undefined): void {
    if (this.#isClosed) return;
    if (!this.#isConcerned(entry, previous)) return;
    try {
      this.#listener(entry?.object<T>(), previous?.object<T>());
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Waits until the cache is right again, tells what has changed since `before`, and follows from there. */
  async #bridge({ entries }: ListResult): Promise<void> {
    const before = new Map(entries.map((entry) => [entry.key, entry]));
    try {
      await this.#store.ready;
    } catch {
      return;
    }
    while (!this.#isClosed) {
      try {
        await this.#store.list('', { ...LIST_ALL, resourceVersion: '' });
        break;
      } catch {
        await new Promise<void>((resolve) => void setTimeout(resolve, RETRY_MS).unref());
      }
    }
    while (this.#delayed.length > 0) await nextTurn();
    if (this.#isClosed) return;
    const state = this.#atHand();
    try {
      if (state.revision > 0) this.#tellDifference(before, state.entries);
    } catch {
      return;
    }
    this.#follow(state);
  }

  #tellDifference(before: Map<string, CacheEntry>, entries: readonly CacheEntry[]): void {
    const now = new Set(entries.map(({ key }) => key));
    for (const [key, entry] of before) if (!now.has(key)) this.#tell(undefined, entry);
    const changed = entries.filter(({ key, revision }) => before.get(key)?.revision !== revision);
    for (const entry of changed.toSorted((a, b) => a.revision - b.revision)) this.#tell(entry, before.get(entry.key));
  }
}

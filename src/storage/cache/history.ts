import type { Clock } from '../clock.ts';
import { Compacted } from '../engine.ts';
import type { OrderedMap } from '../ordered-map.ts';
import { RevisionQueue } from '../revision-queue.ts';
import type { CacheEvent } from './cache.ts';
import type { StoredEntry } from './entry.ts';

export class CacheChange implements CacheEvent {
  readonly type: CacheEvent['type'];
  readonly key: string;
  readonly revision: number;
  readonly entry: StoredEntry;
  readonly previous: StoredEntry | undefined;
  /** Counts the cache's changes: two of one revision differ here. */
  readonly sequence: number;
  readonly atMs: number;
  readonly sizeBytes: number;
  #departed: StoredEntry | undefined;

  constructor(entry: StoredEntry, previous: StoredEntry | undefined, isDeletion: boolean, sequence: number, atMs: number) {
    this.type = isDeletion ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED';
    this.key = entry.key;
    this.revision = entry.revision;
    this.entry = entry;
    this.previous = previous;
    this.sequence = sequence;
    this.atMs = atMs;
    this.sizeBytes = entry.sizeBytes;
  }

  departed(): StoredEntry {
    if (this.type !== 'MODIFIED') return this.entry;
    return (this.#departed ??= this.previous!.at(this.revision));
  }
}

export interface HistoryLimits {
  /** Kept whatever their age and size. */
  minEvents: number;
  maxEvents: number;
  maxBytes: number;
  /** Younger events are kept as far as count and bytes allow. */
  freshMs: number;
}

/** Upstream's bounds (apiserver/pkg/storage/cacher/watch_cache.go), and one on memory. */
export const DEFAULT_HISTORY_LIMITS: HistoryLimits = { minEvents: 100, maxEvents: 100_000, maxBytes: 64 * 1024 * 1024, freshMs: 75_000 };

/** The recent changes of one cache. */
export class History {
  readonly #events = new RevisionQueue<CacheChange>();
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  #sizeBytes = 0;
  /** All changes after this revision are kept. */
  #base = 0;

  constructor(limits: HistoryLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  restart(base: number): void {
    this.#events.clear();
    this.#sizeBytes = 0;
    this.#base = base;
  }

  push(event: CacheChange): void {
    this.#events.push(event);
    this.#sizeBytes += event.sizeBytes;
    this.#trim();
  }

  /** Throws Compacted when not all changes after `revision` are kept. */
  after(revision: number): CacheChange[] {
    if (revision < this.#base) throw new Compacted(this.#base);
    return this.#events.since(revision + 1);
  }

  /** Undoes, in `tree`, all changes after `revision`. */
  rollBack(tree: OrderedMap<string, StoredEntry>, revision: number): void {
    for (const event of this.after(revision).toReversed()) {
      if (event.previous) tree.set(event.key, event.previous);
      else tree.delete(event.key);
    }
  }

  #trim(): void {
    const { minEvents, maxEvents, maxBytes, freshMs } = this.#limits;
    const staleBeforeMs = this.#clock.now() - freshMs;
    while (this.#events.length > minEvents && (this.#events.length > maxEvents || this.#sizeBytes > maxBytes || this.#events.first!.atMs < staleBeforeMs)) {
      const dropped = this.#events.shift()!;
      this.#sizeBytes -= dropped.sizeBytes;
      this.#base = dropped.revision;
    }
  }
}

import type { Clock } from '../clock.ts';
import { Compacted } from '../engine.ts';
import type { OrderedMap } from '../ordered-map.ts';
import { RevisionQueue } from '../revision-queue.ts';
import type { CacheEvent } from './cache.ts';
import type { StoredEntry } from './entry.ts';

export class CacheChange implements CacheEvent {
  readonly type: CacheEvent['type'];
  readonly entry: StoredEntry;
  readonly previous: StoredEntry | undefined;
  /** Counts the cache's changes: two of one revision differ here. */
  readonly sequence: number;
  readonly atMs: number;
  /** What only history holds: the object before the change. */
  readonly sizeBytes: number;
  #departed: StoredEntry | undefined;

  constructor(entry: StoredEntry, previous: StoredEntry | undefined, isDeletion: boolean, sequence: number, atMs: number) {
    this.type = isDeletion ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED';
    this.entry = entry;
    this.previous = previous;
    this.sequence = sequence;
    this.atMs = atMs;
    this.sizeBytes = previous?.sizeBytes ?? 0;
  }

  get key(): string {
    return this.entry.key;
  }

  get revision(): number {
    return this.entry.revision;
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

/**
 * Upstream's (apiserver/pkg/storage/cacher/watch_cache.go), with more room for changes: 75 seconds of them are kept at up to 6,000 a second, where upstream
 * keeps them at up to 1,300. The bytes that count are those that nobody else holds: of what was changed or deleted.
 */
export const DEFAULT_HISTORY_LIMITS: HistoryLimits = { minEvents: 100, maxEvents: 450_000, maxBytes: 256 * 1024 * 1024, freshMs: 75_000 };

/** The recent changes of one cache. */
export class History {
  readonly #events = new RevisionQueue<CacheChange>();
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  #isTrimmingLater = false;
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
    this.#trimLater();
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

  /** What is past its time goes even when nothing new comes. */
  #trimLater(): void {
    if (this.#isTrimmingLater) return;
    this.#isTrimmingLater = true;
    this.#clock.after(this.#limits.freshMs, () => {
      this.#isTrimmingLater = false;
      this.#trim();
      if (this.#events.length > this.#limits.minEvents) this.#trimLater();
    });
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

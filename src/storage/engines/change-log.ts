import { type Clock, systemClock } from '../../util/clock.ts';
import { Compacted, StoreReset, type Stored, type StoredEvent, type Subscription } from '../engine.ts';
import { PrefixIndex } from '../prefix-index.ts';
import { RevisionQueue } from '../revision-queue.ts';
import { type KeyBounds, isWithin } from './range.ts';

export interface ChangeLogLimits {
  /** So many changes are kept however large they are. */
  minEvents: number;
  maxEvents: number;
  maxBytes: number;
  /** Older ones go. */
  maxAgeMs?: number;
}

/**
 * Clients' watches are served from the caches' own history, which shares its bytes with the objects; this one has a copy of every value, and only has to
 * outlast the time between a cache's load and its watch, and an exact range. What it holds while V8 collects young objects twice, V8 takes for old and keeps
 * until the next full collection: with 256 KiB that was every value, at many writes a second.
 */
const DEFAULT_LIMITS: ChangeLogLimits = { minEvents: 100, maxEvents: 100_000, maxBytes: 64 * 1024, maxAgeMs: 75_000 };

interface ChangeLogOptions {
  clock?: Clock | undefined;
  limits?: ChangeLogLimits | undefined;
  /** Nothing was ever changed, at the first revision neither: a watch may start from it. */
  isFresh?: boolean;
}

/** A change and when it came. */
interface Kept {
  readonly revision: number;
  readonly event: StoredEvent;
  readonly atMs: number;
}

interface Watcher {
  readonly prefix: string;
  readonly from: number;
  readonly sink: (events: StoredEvent[]) => void;
  readonly onError: ((error: Error) => void) | undefined;
  readonly onProgress: ((revision: number) => void) | undefined;
  batch: StoredEvent[];
  isClosed: boolean;
}

/** The recent changes and their watchers: what engines that live in this process have in common. */
export class ChangeLog {
  readonly #events = new RevisionQueue<Kept>();
  readonly #watchers = new PrefixIndex<Watcher>();
  /** Those that are told of what is written beside their prefix. */
  readonly #followers = new Set<Watcher>();
  readonly #limits: ChangeLogLimits;
  readonly #clock: Clock;
  #sizeBytes = 0;
  #revision: number;
  /** The oldest revision that a watch may start from: all changes from there on are kept. */
  #oldest: number;

  constructor(revision: number, { clock = systemClock, limits = DEFAULT_LIMITS, isFresh = false }: ChangeLogOptions = {}) {
    this.#revision = revision;
    this.#oldest = isFresh ? revision : revision + 1;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The newest revision that watchers have been told. */
  get revision(): number {
    return this.#revision;
  }

  /** Keeps the changes, newest last, and hands them to their watchers. */
  publish(events: readonly StoredEvent[]): void {
    const atMs = this.#clock.now();
    for (const event of events) {
      this.#events.push({ revision: event.revision, event, atMs });
      this.#sizeBytes += sizeOf(event);
      this.#revision = event.revision;
    }
    this.#trim(atMs);
    this.#deliver(events);
  }

  watch(
    prefix: string,
    from: number,
    sink: (events: StoredEvent[]) => void,
    onError?: (error: Error) => void,
    onProgress?: (revision: number) => void,
  ): Subscription {
    if (from < this.#oldest) throw new Compacted(this.#oldest);
    const missed = this.#since(from).filter((event) => event.key.startsWith(prefix));
    const watcher: Watcher = { prefix, from: Math.max(from, this.#revision + 1), sink, onError, onProgress, batch: missed, isClosed: false };
    this.#watchers.add(prefix, watcher);
    if (onProgress) this.#followers.add(watcher);
    this.#flush(watcher);
    return { close: () => this.#close(watcher) };
  }

  /** What differed at `revision` within the bounds: each key that was changed since, with its value then, undefined where it did not exist. */
  changedSince(bounds: KeyBounds, revision: number): Map<string, Stored | undefined> {
    this.assertKept(revision);
    const before = new Map<string, Stored | undefined>();
    for (const event of this.#since(revision + 1)) {
      if (!before.has(event.key) && isWithin(bounds, event.key)) before.set(event.key, event.previous);
    }
    return before;
  }

  assertKept(revision: number): void {
    if (revision > this.#revision) throw new RangeError(`revision ${revision} has not been reached; the newest is ${this.#revision}`);
    if (revision + 1 < this.#oldest) throw new Compacted(this.#oldest);
  }

  compact(revision: number): void {
    while ((this.#events.first?.revision ?? Infinity) < revision) this.#dropFirst();
    this.#oldest = Math.max(this.#oldest, Math.min(revision, this.#revision + 1));
  }

  /** Another state has taken the place of the last one: `events` are what differs. All watches end, with that. */
  restart(revision: number, events: readonly StoredEvent[]): void {
    this.#events.clear();
    this.#sizeBytes = 0;
    this.#revision = revision;
    this.#oldest = revision + 1;
    const reset = new StoreReset(revision, events);
    for (const watcher of [...this.#watchers]) {
      this.#close(watcher);
      watcher.onError?.(reset);
    }
  }

  #since(revision: number): StoredEvent[] {
    return this.#events.since(revision).map(({ event }) => event);
  }

  #trim(nowMs: number): void {
    const { minEvents, maxEvents, maxBytes, maxAgeMs = Infinity } = this.#limits;
    const isTooMuch = (): boolean => this.#events.length > maxEvents || this.#sizeBytes > maxBytes || this.#events.first!.atMs < nowMs - maxAgeMs;
    while (this.#events.length > minEvents && isTooMuch()) this.#dropFirst();
  }

  #dropFirst(): void {
    const { event } = this.#events.shift()!;
    this.#sizeBytes -= sizeOf(event);
    this.#oldest = event.revision + 1;
  }

  #deliver(events: readonly StoredEvent[]): void {
    const concerned = new Set<Watcher>();
    for (const event of events) {
      this.#watchers.forEachUnder(event.key, (watcher) => {
        if (event.revision < watcher.from) return;
        watcher.batch.push(event);
        concerned.add(watcher);
      });
    }
    for (const watcher of concerned) this.#flush(watcher);
    // A store has one watcher, the feed of its caches: what is written beside its prefix moves the revision that it tells clients too.
    for (const watcher of this.#followers) if (!concerned.has(watcher)) watcher.onProgress!(this.#revision);
  }

  /** A sink that throws breaks its contract; it must not take the writers down with it. */
  #flush(watcher: Watcher): void {
    const events = watcher.batch;
    watcher.batch = [];
    if (events.length === 0 || watcher.isClosed) return;
    try {
      watcher.sink(events);
    } catch (error) {
      this.#close(watcher);
      watcher.onError?.(error as Error);
    }
  }

  #close(watcher: Watcher): void {
    watcher.isClosed = true;
    this.#watchers.remove(watcher.prefix, watcher);
    this.#followers.delete(watcher);
  }
}

const sizeOf = (event: StoredEvent): number => (event.value?.length ?? 0) + (event.previous?.value.length ?? 0) + event.key.length;

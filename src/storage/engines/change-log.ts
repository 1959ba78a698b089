import { Compacted, type Stored, type StoredEvent, type Subscription } from '../engine.ts';
import { PrefixIndex } from '../prefix-index.ts';
import { RevisionQueue } from '../revision-queue.ts';

export interface ChangeLogLimits {
  /** So many changes are kept however large they are. */
  minEvents: number;
  maxEvents: number;
  maxBytes: number;
}

/** Caches keep a history of their own; this one only has to outlast the time between a cache's load and its watch, and an exact range. */
const DEFAULT_LIMITS: ChangeLogLimits = { minEvents: 100, maxEvents: 100_000, maxBytes: 4 * 1024 * 1024 };

interface Watcher {
  readonly prefix: string;
  readonly from: number;
  readonly sink: (events: StoredEvent[]) => void;
  readonly onError: ((error: Error) => void) | undefined;
  batch: StoredEvent[];
  isClosed: boolean;
}

/** The recent changes and their watchers: what engines that live in this process have in common. */
export class ChangeLog {
  readonly #events = new RevisionQueue<StoredEvent>();
  readonly #watchers = new PrefixIndex<Watcher>();
  readonly #limits: ChangeLogLimits;
  #sizeBytes = 0;
  #revision: number;
  /** The oldest revision that a watch may start from: all changes from there on are kept. */
  #oldest: number;

  constructor(revision: number, limits: ChangeLogLimits = DEFAULT_LIMITS) {
    this.#revision = revision;
    this.#oldest = revision + 1;
    this.#limits = limits;
  }

  /** The newest revision that watchers have been told. */
  get revision(): number {
    return this.#revision;
  }

  /** Keeps the changes, newest last, and hands them to their watchers. */
  publish(events: readonly StoredEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#sizeBytes += sizeOf(event);
      this.#revision = event.revision;
    }
    this.#trim();
    this.#deliver(events);
  }

  watch(prefix: string, from: number, sink: (events: StoredEvent[]) => void, onError?: (error: Error) => void): Subscription {
    if (from < this.#oldest) throw new Compacted(this.#oldest);
    const missed = this.#events.since(from).filter((event) => event.key.startsWith(prefix));
    const watcher: Watcher = { prefix, from: Math.max(from, this.#revision + 1), sink, onError, batch: missed, isClosed: false };
    this.#watchers.add(prefix, watcher);
    this.#flush(watcher);
    return { close: () => this.#close(watcher) };
  }

  /** `items` are the current ones under `prefix`; they become those of `revision`. */
  rollBack(items: Map<string, Stored>, prefix: string, revision: number): void {
    this.assertKept(revision);
    for (const event of this.#events.since(revision + 1).toReversed()) {
      if (!event.key.startsWith(prefix)) continue;
      if (event.previous) items.set(event.key, event.previous);
      else items.delete(event.key);
    }
  }

  assertKept(revision: number): void {
    if (revision > this.#revision) throw new RangeError(`revision ${revision} has not been reached; the newest is ${this.#revision}`);
    if (revision + 1 < this.#oldest) throw new Compacted(this.#oldest);
  }

  compact(revision: number): void {
    while ((this.#events.first?.revision ?? Infinity) < revision) this.#dropFirst();
    this.#oldest = Math.max(this.#oldest, Math.min(revision, this.#revision + 1));
  }

  #trim(): void {
    const { minEvents, maxEvents, maxBytes } = this.#limits;
    while (this.#events.length > minEvents && (this.#events.length > maxEvents || this.#sizeBytes > maxBytes)) this.#dropFirst();
  }

  #dropFirst(): void {
    const event = this.#events.shift()!;
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
  }
}

const sizeOf = (event: StoredEvent): number => (event.value?.length ?? 0) + (event.previous?.value.length ?? 0) + event.key.length;

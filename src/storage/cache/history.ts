import type { Clock, Timer } from '../../util/clock.ts';
import { Compacted } from '../engine.ts';
import type { OrderedMap } from '../ordered-map.ts';
import { RevisionQueue } from '../revision-queue.ts';
import type { CacheEvent } from './cache.ts';
import type { StoredEntry } from './entry.ts';

/** What a change takes beside its object's bytes: itself, its entry and the key. Measured. */
const CHANGE_BYTES = 256;

export class CacheChange implements CacheEvent {
  readonly type: CacheEvent['type'];
  readonly entry: StoredEntry;
  readonly previous: StoredEntry | undefined;
  /** Counts the cache's changes: two of one revision differ here. 0 when it comes from history. */
  readonly sequence: number;
  /** What only history holds: the object before the change, and what there is for the change itself. */
  readonly sizeBytes: number;
  #asDeleted: StoredEntry | undefined;

  constructor(entry: StoredEntry, previous: StoredEntry | undefined, isDeletion: boolean, sequence: number) {
    this.type = isDeletion ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED';
    this.entry = entry;
    this.previous = previous;
    this.sequence = sequence;
    this.sizeBytes = CHANGE_BYTES + (previous?.sizeBytes ?? 0);
  }

  get key(): string {
    return this.entry.key;
  }

  get revision(): number {
    return this.entry.revision;
  }

  asDeleted(): StoredEntry {
    if (this.type !== 'MODIFIED') return this.entry;
    return (this.#asDeleted ??= this.previous!.at(this.revision));
  }
}

/** Of a creation only the entry is kept: a store that is being filled has little else in its history, and the entry it has anyway. */
type Kept = CacheChange | StoredEntry;

const keptOf = (change: CacheChange): Kept => (change.type === 'ADDED' ? change.entry : change);
const changeOf = (kept: Kept): CacheChange => (kept instanceof CacheChange ? kept : new CacheChange(kept, undefined, false, 0));
const previousOf = (kept: Kept): StoredEntry | undefined => (kept instanceof CacheChange ? kept.previous : undefined);

/** The first revision of a second in which there were changes. */
interface Tick {
  readonly revision: number;
  readonly startMs: number;
}

const TICK_MS = 1_000;

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
 * keeps them at up to 1,300. The bytes that count are those that nobody else holds: of what was changed or deleted, and of the changes themselves.
 */
export const DEFAULT_HISTORY_LIMITS: HistoryLimits = { minEvents: 100, maxEvents: 450_000, maxBytes: 256 * 1024 * 1024, freshMs: 75_000 };

/** The recent changes of one cache. */
export class History {
  readonly #events = new RevisionQueue<Kept>();
  /** When the changes came, to the second. */
  readonly #ticks = new RevisionQueue<Tick>();
  readonly #limits: HistoryLimits;
  readonly #clock: Clock;
  #trimming: Timer | undefined;
  #lastTickMs = -Infinity;
  #sizeBytes = 0;
  /** All changes after this revision are kept. */
  #base = 0;

  /** Events that there is room for; doubles, and halves when a quarter is enough, as upstream's ring of events does (watch_cache.go, resizeCacheLocked). */
  #capacity: number;
  readonly #onResize: (isIncrease: boolean) => void;

  constructor(limits: HistoryLimits, clock: Clock, onResize: (isIncrease: boolean) => void = () => undefined) {
    this.#limits = limits;
    this.#capacity = limits.minEvents;
    this.#onResize = onResize;
    this.#clock = clock;
  }

  restart(base: number): void {
    this.#events.clear();
    this.#ticks.clear();
    this.#lastTickMs = -Infinity;
    this.#sizeBytes = 0;
    this.#base = base;
  }

  /** Nobody will ask for anything any more, and a timer would keep all of it in memory until it is over. */
  close(): void {
    this.#trimming?.cancel();
    this.restart(this.#base);
  }

  push(change: CacheChange): void {
    this.#tick(change.revision);
    this.#events.push(keptOf(change));
    this.#sizeBytes += change.sizeBytes;
    this.#trim();
    this.#trimLater();
    if (this.#events.length > this.#capacity) this.#resize(true);
  }

  get capacity(): number {
    return this.#capacity;
  }

  #resize(isIncrease: boolean): void {
    this.#capacity = isIncrease ? this.#capacity * 2 : this.#capacity / 2;
    this.#onResize(isIncrease);
  }

  /** All changes after this revision are kept. */
  get base(): number {
    return this.#base;
  }

  /** Of keys under `prefix`. Throws Compacted when not all changes after `revision` are kept. */
  after(revision: number, prefix: string): CacheChange[] {
    return this.#since(revision)
      .filter(({ key }) => key.startsWith(prefix))
      .map(changeOf);
  }

  /** Those of these revisions, which are later than the base. */
  at(revisions: readonly number[], prefix: string): CacheChange[] {
    return revisions
      .flatMap((revision) => this.#events.at(revision))
      .filter(({ key }) => key.startsWith(prefix))
      .map(changeOf);
  }

  /** Undoes, in `tree`, all changes after `revision`. */
  rollBack(tree: OrderedMap<string, StoredEntry>, revision: number): void {
    for (const kept of this.#since(revision).toReversed()) {
      const previous = previousOf(kept);
      if (previous) tree.set(kept.key, previous);
      else tree.delete(kept.key);
    }
  }

  #since(revision: number): Kept[] {
    if (revision < this.#base) throw new Compacted(this.#base);
    return this.#events.since(revision + 1);
  }

  #tick(revision: number): void {
    const nowMs = this.#clock.now();
    if (nowMs < this.#lastTickMs + TICK_MS) return;
    this.#lastTickMs = nowMs;
    this.#ticks.push({ revision, startMs: nowMs });
  }

  /** What is past its time goes even when nothing new comes. */
  #trimLater(): void {
    this.#trimming ??= this.#clock.after(this.#limits.freshMs + TICK_MS, () => {
      this.#trimming = undefined;
      this.#trim();
      if (this.#capacity > this.#limits.minEvents && this.#events.length < this.#capacity / 4) this.#resize(false);
      if (this.#events.length > this.#limits.minEvents) this.#trimLater();
    });
  }

  #trim(): void {
    const { minEvents, maxEvents, maxBytes } = this.#limits;
    const freshFrom = this.#freshFrom();
    while (this.#events.length > minEvents && (this.#events.length > maxEvents || this.#sizeBytes > maxBytes || this.#events.first!.revision < freshFrom)) {
      const dropped = this.#events.shift()!;
      this.#sizeBytes -= dropped instanceof CacheChange ? dropped.sizeBytes : CHANGE_BYTES;
      this.#base = dropped.revision;
    }
  }

  /** The first revision that is not past its time: all of a second go together, when its last could be. */
  #freshFrom(): number {
    const staleMs = this.#clock.now() - this.#limits.freshMs - TICK_MS;
    while ((this.#ticks.first?.startMs ?? Infinity) < staleMs) this.#ticks.shift();
    return this.#ticks.first?.revision ?? Infinity;
  }
}

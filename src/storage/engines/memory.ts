import { type Clock, systemClock } from '../../util/clock.ts';
import { type StorageChange, CommitConflict, type RangeResult, type RangeOptions, type Stored, type StoredEvent } from '../engine.ts';
import { compareKeys } from '../key-order.ts';
import { type OrderedMap, forEachDifference, orderedMap } from '../ordered-map.ts';
import { ChangeLog, type ChangeLogLimits } from './change-log.ts';
import { type Expiry, ExpirySweeper } from './expiry-sweeper.ts';
import type { GrantedLease, LeaseChange, StoredLeases } from './lease-change.ts';
import { type KeyState, LocalEngine } from './local-engine.ts';
import { type Current, type KeyBounds, currentRange, pastRange } from './range.ts';

interface MemoryEngineOptions {
  clock?: Clock;
  history?: ChangeLogLimits;
  /** --etcd-compaction-interval; 0: history is bounded by its size alone. */
  compactionIntervalMs?: number;
  /** What it begins with. */
  image?: MemoryImage | undefined;
}

/** The state of a memory store at one revision. What is in it never changes; stores share it until they write. */
export interface MemoryImage {
  readonly revision: number;
  readonly stored: OrderedMap<string, Stored>;
  readonly expiries: OrderedMap<Expiry, true>;
  readonly leases: ReadonlyMap<bigint, GrantedLease>;
}

/** A fresh store's revision, as etcd's: 0 would mean "any" to clients. */
export const FIRST_REVISION = 1;

export const openMemoryEngine = (options: MemoryEngineOptions = {}): MemoryEngine => new MemoryEngine(options);

/** Keeps nothing beyond the process: for tests, and for servers that are thrown away. */
export class MemoryEngine extends LocalEngine {
  #stored: OrderedMap<string, Stored>;
  #leases: Map<bigint, GrantedLease>;
  #expiries: OrderedMap<Expiry, true>;
  readonly #clock: Clock;
  readonly #sweeper: ExpirySweeper;
  readonly #current: Current = {
    get: (key) => this.#stored.get(key),
    range: (bounds, limit = Infinity) => {
      const items: Stored[] = [];
      for (const stored of this.#within(bounds)) {
        if (items.length >= limit) break;
        items.push(stored);
      }
      return items;
    },
    count: (bounds) => {
      let count = 0;
      for (const _ of this.#within(bounds)) count++;
      return count;
    },
  };

  constructor({ clock = systemClock, history, compactionIntervalMs = 0, image }: MemoryEngineOptions) {
    super(new ChangeLog(image?.revision ?? FIRST_REVISION, { clock, limits: history, isFresh: image === undefined }), image?.revision);
    this.#clock = clock;
    this.#stored = image?.stored.clone() ?? orderedMap<string, Stored>(compareKeys);
    this.#leases = new Map(image?.leases);
    this.#expiries = image?.expiries.clone() ?? orderedMap<Expiry, true>(compareExpiries);
    this.#sweeper = new ExpirySweeper(
      {
        firstExpiryMs: () => this.#expiries.minKey()?.expiresAtMs,
        due: (nowMs, limit) => this.#dueExpiries(nowMs, limit),
        expire: (expiries) => this.#expire(expiries),
      },
      clock,
    );
    this.compactEvery(compactionIntervalMs, clock);
  }

  /** The state as it is now; takes constant time. */
  image(): MemoryImage {
    return { revision: this.log.revision, stored: this.#stored.clone(), expiries: this.#expiries.clone(), leases: new Map(this.#leases) };
  }

  /**
   * Takes the store back to that state, in one revision, which what has changed since then gets: revisions never go back. What has not changed keeps its own.
   * Watches end with StoreReset. Costs what differs.
   */
  restore(image: MemoryImage): void {
    this.assertOpen();
    const revision = this.log.revision + 1;
    const events: StoredEvent[] = [];
    const rewritten: Stored[] = [];
    forEachDifference(this.#stored, image.stored, (key, previous, then) => {
      // The same value: an earlier reset has written it.
      if (previous && previous.value === then?.value) return void rewritten.push(previous);
      events.push({ type: then ? 'put' : 'delete', key, revision, value: then?.value, previous });
      if (then) rewritten.push({ ...then, revision, createdRevision: (previous && then.createdRevision) ?? revision, version: (then.version ?? 0) + 1 });
    });
    this.#stored = image.stored.clone();
    for (const stored of rewritten) this.#stored.set(stored.key, stored);
    this.#leases = new Map(image.leases);
    this.#expiries = expiriesOf(image, new Map(rewritten.map(({ key, revision: at }) => [key, at])));
    this.#sweeper.wakeAt(this.#expiries.minKey()?.expiresAtMs);
    this.restartLog(revision, events);
  }

  async read(key: string): Promise<KeyState> {
    this.assertOpen();
    return { stored: this.#stored.get(key), revision: this.log.revision };
  }

  async rangeWithin(bounds: KeyBounds, options: RangeOptions): Promise<RangeResult> {
    this.assertOpen();
    const { revision = this.log.revision } = options;
    if (revision === this.log.revision) return currentRange(this.#current, bounds, revision, options);
    return pastRange(this.#current, bounds, this.log.changedSince(bounds, revision), revision, options);
  }

  async commit(change: StorageChange): Promise<number> {
    this.assertOpen();
    const previous = this.#stored.get(change.key);
    if ((previous?.revision ?? 0) !== change.expected || (change.type === 'delete' && !previous)) throw new CommitConflict(change.key, previous);
    const revision = this.log.revision + 1;
    if (change.type === 'put') {
      const counts = { createdRevision: previous?.createdRevision ?? revision, version: (previous?.version ?? 0) + 1 };
      this.#stored.set(change.key, { key: change.key, value: ownCopyOf(change.value), revision, ...counts });
      const { key, lease, ttlSeconds } = change;
      if (lease) this.#addExpiry({ key, revision, expiresAtMs: lease.expiresAtMs, leaseId: lease.id });
      else if (ttlSeconds !== undefined) this.#addExpiry({ key, revision, expiresAtMs: this.#clock.now() + ttlSeconds * 1_000 });
    } else {
      this.#stored.delete(change.key);
    }
    const value = change.type === 'put' ? change.value : undefined;
    const leaseId = change.type === 'put' ? change.lease?.id : undefined;
    const { annotation } = change;
    this.log.publish([
      { type: change.type, key: change.key, revision, value, previous, ...(leaseId !== undefined && { leaseId }), ...(annotation && { annotation }) },
    ]);
    return revision;
  }

  /** Takes over a change of another store, with the revision that it has there. Undefined: it was deleted. Revisions only go on. */
  protected applyAt(revision: number, key: string, value: Buffer | undefined): void {
    this.assertOpen();
    const previous = this.#stored.get(key);
    if (value === undefined && !previous) return;
    if (value === undefined) this.#stored.delete(key);
    else this.#stored.set(key, { key, value, revision, createdRevision: previous?.createdRevision ?? revision, version: (previous?.version ?? 0) + 1 });
    this.log.publish([{ type: value === undefined ? 'delete' : 'put', key, revision, value, previous }]);
  }

  async leases(): Promise<StoredLeases> {
    return { granted: [...this.#leases.values()], expiries: [...this.#expiries.keys()] };
  }

  async changeLeases({ granted = [], revoked = [], ended = [], added = [] }: LeaseChange): Promise<void> {
    this.assertOpen();
    for (const lease of granted) this.#leases.set(lease.id, lease);
    for (const id of revoked) this.#leases.delete(id);
    for (const expiry of ended) this.#expiries.delete(expiry);
    for (const expiry of added) this.#addExpiry(expiry);
  }

  async checkHealth(): Promise<void> {
    this.assertOpen();
  }

  async close(): Promise<void> {
    await Promise.all([this.#sweeper.stop(), this.stopCompacting()]);
    this.isClosed = true;
  }

  #addExpiry(expiry: Expiry): void {
    this.#expiries.set(expiry, true);
    this.#sweeper.wakeAt(expiry.expiresAtMs);
  }

  #dueExpiries(nowMs: number, limit: number): Expiry[] {
    const due: Expiry[] = [];
    for (const expiry of this.#expiries.keys()) {
      if (expiry.expiresAtMs > nowMs || due.length === limit) break;
      due.push(expiry);
    }
    return due;
  }

  *#within({ start, isStartExcluded, end }: KeyBounds): Generator<Stored> {
    for (const [key, stored] of this.#stored.entries(start)) {
      if (end !== undefined && compareKeys(key, end) >= 0) return;
      if (key !== start || !isStartExcluded) yield stored;
    }
  }

  async #expire(expiries: Expiry[]): Promise<void> {
    for (const expiry of expiries) {
      this.#expiries.delete(expiry);
      if (this.#stored.get(expiry.key)?.revision === expiry.revision && !this.isExpiryMoved(expiry))
        await this.commit({ type: 'delete', key: expiry.key, expected: expiry.revision });
    }
  }
}

const compareExpiries = (a: Expiry, b: Expiry): number => a.expiresAtMs - b.expiresAtMs || compareKeys(a.key, b.key) || a.revision - b.revision;

/** They belong to the write that they came with, which a reset may have made anew. */
function expiriesOf({ expiries }: MemoryImage, revisions: ReadonlyMap<string, number>): OrderedMap<Expiry, true> {
  const own = expiries.clone();
  if (revisions.size === 0) return own;
  for (const expiry of expiries.keys()) {
    const revision = revisions.get(expiry.key);
    if (revision === undefined) continue;
    own.delete(expiry);
    own.set({ ...expiry, revision }, true);
  }
  return own;
}

/** What is to be stored shares its memory with what comes and goes (see passingMemory). */
function ownCopyOf(value: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(value.length);
  value.copy(copy);
  return copy;
}

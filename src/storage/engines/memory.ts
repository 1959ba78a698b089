import { type Clock, systemClock } from '../clock.ts';
import {
  type Change,
  CommitConflict,
  type Engine,
  type Range,
  type RangeOptions,
  StorageUnavailable,
  type Stored,
  type StoredEvent,
  type Subscription,
} from '../engine.ts';
import { compareKeys } from '../key-order.ts';
import { orderedMap } from '../ordered-map.ts';
import { ChangeLog, type ChangeLogLimits } from './change-log.ts';
import { type Lease, LeaseSweeper } from './lease-sweeper.ts';
import { cut } from './range.ts';

interface MemoryEngineOptions {
  clock?: Clock;
  history?: ChangeLogLimits;
}

/** A fresh store's revision, as etcd's: 0 would mean "any" to clients. */
export const FIRST_REVISION = 1;

export const openMemoryEngine = (options: MemoryEngineOptions = {}): Engine => new MemoryEngine(options);

/** Keeps nothing beyond the process: for tests, and for servers that are thrown away. */
class MemoryEngine implements Engine {
  readonly isSingleWriter = true;
  readonly #stored = orderedMap<string, Stored>(compareKeys);
  readonly #leases = orderedMap<Lease, true>((a, b) => a.expiresAtMs - b.expiresAtMs || compareKeys(a.key, b.key) || a.revision - b.revision);
  readonly #clock: Clock;
  readonly #log: ChangeLog;
  readonly #sweeper: LeaseSweeper;
  #isClosed = false;

  constructor({ clock = systemClock, history }: MemoryEngineOptions) {
    this.#clock = clock;
    this.#log = new ChangeLog(FIRST_REVISION, history);
    this.#sweeper = new LeaseSweeper(
      {
        firstExpiryMs: () => this.#leases.minKey()?.expiresAtMs,
        due: (nowMs, limit) => this.#dueLeases(nowMs, limit),
        expire: (leases) => this.#expire(leases),
      },
      clock,
    );
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#assertOpen();
    return this.#stored.get(key);
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<Range> {
    this.#assertOpen();
    const items = new Map<string, Stored>();
    for (const [key, stored] of this.#stored.entries(prefix)) {
      if (!key.startsWith(prefix)) break;
      items.set(key, stored);
    }
    const revision = options.revision ?? this.#log.revision;
    if (options.revision !== undefined) this.#log.rollBack(items, prefix, revision);
    return cut(items.values(), revision, options);
  }

  async commit(change: Change): Promise<number> {
    this.#assertOpen();
    const previous = this.#stored.get(change.key);
    if ((previous?.revision ?? 0) !== change.expected || (change.type === 'delete' && !previous)) throw new CommitConflict(change.key, previous);
    const revision = this.#log.revision + 1;
    if (change.type === 'put') {
      this.#stored.set(change.key, { key: change.key, value: change.value, revision });
      if (change.ttlSeconds !== undefined) this.#lease({ key: change.key, revision, expiresAtMs: this.#clock.now() + change.ttlSeconds * 1_000 });
    } else {
      this.#stored.delete(change.key);
    }
    this.#log.publish([{ type: change.type, key: change.key, revision, value: change.type === 'put' ? change.value : undefined, previous }]);
    return revision;
  }

  watch(prefix: string, from: number, sink: (events: StoredEvent[]) => void, onError?: (error: Error) => void): Subscription {
    this.#assertOpen();
    return this.#log.watch(prefix, from, sink, onError);
  }

  async currentRevision(): Promise<number> {
    this.#assertOpen();
    return this.#log.revision;
  }

  async compact(revision: number): Promise<void> {
    this.#log.compact(revision);
  }

  async checkHealth(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    await this.#sweeper.stop();
    this.#isClosed = true;
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StorageUnavailable('the memory store is closed');
  }

  #lease(lease: Lease): void {
    this.#leases.set(lease, true);
    this.#sweeper.wakeAt(lease.expiresAtMs);
  }

  #dueLeases(nowMs: number, limit: number): Lease[] {
    const due: Lease[] = [];
    for (const lease of this.#leases.keys()) {
      if (lease.expiresAtMs > nowMs || due.length === limit) break;
      due.push(lease);
    }
    return due;
  }

  async #expire(leases: Lease[]): Promise<void> {
    for (const lease of leases) {
      this.#leases.delete(lease);
      if (this.#stored.get(lease.key)?.revision === lease.revision) await this.commit({ type: 'delete', key: lease.key, expected: lease.revision });
    }
  }
}

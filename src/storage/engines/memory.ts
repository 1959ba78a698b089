import { type Clock, systemClock } from '../../util/clock.ts';
import { type StorageChange, CommitConflict, type Engine, type RangeResult, type RangeOptions, type Stored } from '../engine.ts';
import { compareKeys } from '../key-order.ts';
import { orderedMap } from '../ordered-map.ts';
import { ChangeLog, type ChangeLogLimits } from './change-log.ts';
import { type Lease, LeaseSweeper } from './lease-sweeper.ts';
import { LocalEngine } from './local-engine.ts';
import { type Current, currentRange, pastRange } from './range.ts';

interface MemoryEngineOptions {
  clock?: Clock;
  history?: ChangeLogLimits;
  /** --etcd-compaction-interval; 0: history is bounded by its size alone. */
  compactionIntervalMs?: number;
}

/** A fresh store's revision, as etcd's: 0 would mean "any" to clients. */
export const FIRST_REVISION = 1;

export const openMemoryEngine = (options: MemoryEngineOptions = {}): Engine => new MemoryEngine(options);

/** Keeps nothing beyond the process: for tests, and for servers that are thrown away. */
class MemoryEngine extends LocalEngine {
  readonly #stored = orderedMap<string, Stored>(compareKeys);
  readonly #leases = orderedMap<Lease, true>((a, b) => a.expiresAtMs - b.expiresAtMs || compareKeys(a.key, b.key) || a.revision - b.revision);
  readonly #clock: Clock;
  readonly #sweeper: LeaseSweeper;
  readonly #current: Current = {
    range: (prefix, after, limit = Infinity) => {
      const items: Stored[] = [];
      for (const stored of this.#under(prefix, after)) {
        if (items.length >= limit) break;
        items.push(stored);
      }
      return items;
    },
    count: (prefix, after) => [...this.#under(prefix, after)].length,
  };

  constructor({ clock = systemClock, history, compactionIntervalMs = 0 }: MemoryEngineOptions) {
    super(new ChangeLog(FIRST_REVISION, { clock, limits: history }));
    this.#clock = clock;
    this.#sweeper = new LeaseSweeper(
      {
        firstExpiryMs: () => this.#leases.minKey()?.expiresAtMs,
        due: (nowMs, limit) => this.#dueLeases(nowMs, limit),
        expire: (leases) => this.#expire(leases),
      },
      clock,
    );
    this.compactEvery(compactionIntervalMs, clock);
  }

  async get(key: string): Promise<Stored | undefined> {
    this.assertOpen();
    return this.#stored.get(key);
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.assertOpen();
    const { revision = this.log.revision } = options;
    if (revision === this.log.revision) return currentRange(this.#current, prefix, revision, options);
    return pastRange(this.#current, prefix, this.log.changedSince(prefix, revision), revision, options);
  }

  async commit(change: StorageChange): Promise<number> {
    this.assertOpen();
    const previous = this.#stored.get(change.key);
    if ((previous?.revision ?? 0) !== change.expected || (change.type === 'delete' && !previous)) throw new CommitConflict(change.key, previous);
    const revision = this.log.revision + 1;
    if (change.type === 'put') {
      this.#stored.set(change.key, { key: change.key, value: ownCopyOf(change.value), revision });
      if (change.ttlSeconds !== undefined) this.#lease({ key: change.key, revision, expiresAtMs: this.#clock.now() + change.ttlSeconds * 1_000 });
    } else {
      this.#stored.delete(change.key);
    }
    this.log.publish([{ type: change.type, key: change.key, revision, value: change.type === 'put' ? change.value : undefined, previous }]);
    return revision;
  }

  async checkHealth(): Promise<void> {
    this.assertOpen();
  }

  async close(): Promise<void> {
    await Promise.all([this.#sweeper.stop(), this.stopCompacting()]);
    this.isClosed = true;
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

  /** Keys under the prefix, ascending, beyond `after`. */
  *#under(prefix: string, after: string | undefined): Generator<Stored> {
    const start = after !== undefined && compareKeys(after, prefix) >= 0 ? after : prefix;
    for (const [key, stored] of this.#stored.entries(start)) {
      if (!key.startsWith(prefix)) return;
      if (key !== after) yield stored;
    }
  }

  async #expire(leases: Lease[]): Promise<void> {
    for (const lease of leases) {
      this.#leases.delete(lease);
      if (this.#stored.get(lease.key)?.revision === lease.revision) await this.commit({ type: 'delete', key: lease.key, expected: lease.revision });
    }
  }
}

/** What is to be stored shares its memory with what comes and goes (see passingMemory). */
function ownCopyOf(value: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(value.length);
  value.copy(copy);
  return copy;
}

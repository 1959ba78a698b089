import { type StorageChange, StorageUnavailable, type Stored } from '../engine.ts';
import { compareKeys } from '../key-order.ts';
import { orderedMap } from '../ordered-map.ts';
import type { Expiry } from './expiry-sweeper.ts';
import { FIRST_REVISION, MemoryEngine } from './memory.ts';

/** One object of the store that is replayed. */
interface ReplayedValue {
  key: string;
  value: Buffer;
  revision: number;
}

/** What another store had at a moment, with its revisions. Nothing is written to it but what was recorded, by `play`. */
export class ReplayedEngine extends MemoryEngine {
  constructor(values: Iterable<ReplayedValue>, revision: number) {
    const stored = orderedMap<string, Stored>(compareKeys);
    for (const { key, value, revision: at } of values) stored.set(key, { key, value, revision: at, createdRevision: at, version: 1 });
    super({ image: { revision: Math.max(revision, FIRST_REVISION), stored, expiries: orderedMap<Expiry, true>(() => 0), leases: new Map() } });
  }

  /** The next change that was recorded; a revision that is not higher than the last one, since nobody has told it, becomes so. */
  play(key: string, value: Buffer | undefined, revision: number): void {
    this.applyAt(Math.max(revision, this.publishedRevision + 1), key, value);
  }

  override commit(_change: StorageChange): Promise<number> {
    return Promise.reject(new StorageUnavailable('a recording is not written to'));
  }
}

import {
  type StorageChange,
  type Engine,
  type KeptChanges,
  type RangeResult,
  type RangeOptions,
  StorageUnavailable,
  type Stored,
  type StoredEvent,
  type Subscription,
} from '../engine.ts';
import type { Clock } from '../../util/clock.ts';
import type { ChangeLog } from './change-log.ts';
import type { Expiry } from './expiry-sweeper.ts';
import type { LeaseChange, StoredLeases } from './lease-change.ts';
import type { StoreStatistics } from './lmdb-database.ts';
import { LocalCompactor } from './local-compactor.ts';
import { type KeyBounds, underPrefix } from './range.ts';

export interface KeyState {
  stored: Stored | undefined;
  revision: number;
}

/** What the engines that live in this process have in common: they alone write, and what they write passes through a log that tells watchers. */
export abstract class LocalEngine implements Engine {
  readonly isSingleWriter = true;
  protected readonly log: ChangeLog;
  protected isClosed = false;
  /** Whether a key is kept though its time has come, because that has been moved since; then the store has its new time, or soon will. */
  protected isExpiryMoved: (expiry: Expiry) => boolean = () => false;
  #oldestRevision = 0;
  #compactor: LocalCompactor | undefined;

  constructor(log: ChangeLog, oldestRevision = 0) {
    this.log = log;
    this.#oldestRevision = oldestRevision;
  }

  get oldestRevision(): number {
    return this.#oldestRevision;
  }

  /** The current value, with the revision of the state that it is read from. */
  abstract read(key: string): Promise<KeyState>;
  /** As `range`, of any part of the order of keys; `options.after` is not looked at. */
  abstract rangeWithin(bounds: KeyBounds, options: RangeOptions): Promise<RangeResult>;
  abstract commit(change: StorageChange): Promise<number>;
  abstract leases(): Promise<StoredLeases>;
  /** Resolves once it is as durable as a commit. Keys themselves are changed by `commit` alone. */
  abstract changeLeases(change: LeaseChange): Promise<void>;
  abstract checkHealth(): Promise<void>;
  abstract close(): Promise<void>;

  async get(key: string): Promise<Stored | undefined> {
    return (await this.read(key)).stored;
  }

  range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    return this.rangeWithin(underPrefix(prefix, options.after), options);
  }

  watch(
    prefix: string,
    from: number,
    sink: (events: StoredEvent[]) => void,
    onError?: (error: Error) => void,
    onProgress?: (revision: number) => void,
  ): Subscription {
    this.assertOpen();
    return this.log.watch(prefix, from, sink, onError, onProgress);
  }

  async currentRevision(): Promise<number> {
    this.assertOpen();
    return this.log.revision;
  }

  /** The newest revision that watchers have been told. */
  get publishedRevision(): number {
    return this.log.revision;
  }

  /** Only what is on a disk can be lost by a crash. */
  get keptChanges(): KeptChanges | undefined {
    return undefined;
  }

  /** Of the store's file; undefined where there is none, or while it cannot be asked. */
  statistics(): StoreStatistics | undefined {
    return undefined;
  }

  async compact(revision: number): Promise<void> {
    this.log.compact(revision);
    this.#oldestRevision = Math.max(this.#oldestRevision, Math.min(revision - 1, this.log.revision));
  }

  /** Another state has taken the place of the last one. */
  protected restartLog(revision: number, events: readonly StoredEvent[]): void {
    this.#oldestRevision = revision;
    this.log.restart(revision, events);
  }

  /** Whoever moves expiries tells of those whose move may not be on disk yet. */
  set movedExpiries(isMoved: (expiry: Expiry) => boolean) {
    this.isExpiryMoved = isMoved;
  }

  /** 0: never. */
  protected compactEvery(intervalMs: number, clock: Clock): void {
    if (intervalMs > 0) this.#compactor = new LocalCompactor(this, intervalMs, clock);
  }

  protected async stopCompacting(): Promise<void> {
    await this.#compactor?.stop();
  }

  protected assertOpen(): void {
    if (this.isClosed) throw new StorageUnavailable('the store is closed');
  }
}

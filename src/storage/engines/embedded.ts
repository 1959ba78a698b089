import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve as absolute } from 'node:path';
import { type Clock, type Timer, systemClock } from '../../util/clock.ts';
import {
  type ChangeKeeping,
  type StorageChange,
  CommitConflict,
  type KeptChanges,
  type RangeResult,
  type RangeOptions,
  StorageUnavailable,
  type Stored,
  type StoredEvent,
} from '../engine.ts';
import { PassingMap } from '../passing-map.ts';
import { ChangeLog, type ChangeLogLimits } from './change-log.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { type Expiry, ExpirySweeper } from './expiry-sweeper.ts';
import { ChangeKeeper } from './kept-change.ts';
import type { LeaseChange, StoredLeases } from './lease-change.ts';
import { StorageBroken, type StoreStatistics } from './lmdb-database.ts';
import { type FileTransaction, LmdbFile, MAX_KEY_BYTES } from './lmdb-file.ts';
import { type KeyState, LocalEngine } from './local-engine.ts';
import { FIRST_REVISION } from './memory.ts';
import { type KeyBounds, currentRange, pastRange } from './range.ts';

interface EmbeddedEngineOptions {
  folder: string;
  clock?: Clock;
  history?: ChangeLogLimits;
  /** --etcd-compaction-interval; 0: history is bounded by its size alone. */
  compactionIntervalMs?: number;
  /** Which changes are kept until another has taken them over; none where absent. */
  keeping?: ChangeKeeping | undefined;
}

/** Opens the store in the folder, made if its parent exists. Throws StorageUnavailable with one line that tells why not. */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const folder = absolute(options.folder);
  await makeFolder(folder);
  const lock = await lockFolder(folder);
  try {
    return new EmbeddedEngine(new LmdbFile(folder, FIRST_REVISION, { isJournaled: true }), lock, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new StorageUnavailable(`cannot make the folder ${folder}: ${dirname(folder)} does not exist`);
    if (code !== 'EEXIST') throw new StorageUnavailable(`cannot make the folder ${folder}: ${message}`);
    if (!(await stat(folder)).isDirectory()) throw new StorageUnavailable(`cannot open the store in ${folder}: it is not a folder`);
  }
  const { R_OK, W_OK, X_OK } = constants;
  await access(folder, R_OK | W_OK | X_OK).catch(() => {
    throw new StorageUnavailable(`cannot open the store in ${folder}: it may not be written`);
  });
}

/** A change that was accepted and is on its way to the disk. */
interface Pending {
  change: StorageChange;
  previous: Stored | undefined;
  resolve: (revision: number) => void;
  reject: (error: Error) => void;
}

/** A commit's turn among those of its key. Mostly nobody waits for its end, and there is no promise of it. */
interface Turn {
  ended: Promise<void> | undefined;
  end: (() => void) | undefined;
}

const endOf = (turn: Turn): Promise<void> => (turn.ended ??= new Promise((resolve) => (turn.end = resolve)));

/** A change of leases that is on its way to the disk. */
interface PendingLeases {
  change: LeaseChange;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A transaction takes changes up to these bounds: what others wait for stays short. */
const CHANGES_A_BATCH = 1_000;
const BYTES_A_BATCH = 8 * 1024 * 1024;

/** So much of the file may be mapped into this process' memory, while it is written to and when it is not. */
const MAPPED_BYTES_MAX = 32 * 1024 * 1024;
const MAPPED_BYTES_IDLE_MAX = 1024 * 1024;
/** What is in the journal goes to LMDB so long after it was written. */
const CHECKPOINT_MS = 1_000;
/** Without a range or a write for so long, the store counts as idle. Mapping the file anew makes V8 compile what reads it anew: a store in use is left alone. */
const IDLE_MS = 10_000;

/**
 * One machine's store: LMDB holds the state, this process its recent history.
 *
 * Group commit: while one transaction is being synced, further changes gather; then all of them become the next. A change is checked against what
 * is on disk, alone for its key (others of the same key wait their turn), and is seen by nobody before it is on disk:
 *
 *     commit → turn of its key → checked → queue → batch in flight → on disk → watchers → commit resolves
 */
export class EmbeddedEngine extends LocalEngine {
  readonly #file: LmdbFile;
  readonly #lock: FolderLock;
  readonly #clock: Clock;
  readonly #sweeper: ExpirySweeper;
  /** The end of each key's line of commits. */
  readonly #turns = new PassingMap<Turn>();
  /** The keys of the batch in flight, with what is still their value to everybody. LMDB may show the new one a moment earlier. */
  #inFlight = new Map<string, Stored | undefined>();
  #queue: Pending[] = [];
  #leaseQueue: PendingLeases[] = [];
  #isScheduled = false;
  #isInFlight = false;
  /** When the batch in flight, or the one about to be, is done. */
  #batchDone: Promise<void> = Promise.resolve();
  /** The newest revision given to a change; those of failed batches are never given again. */
  #lastRevision: number;
  #failure: StorageUnavailable | undefined;
  /** While the file is mapped anew, nothing can be read. */
  #remapped: Promise<void> | undefined;
  #checkpointTimer: Timer | undefined;
  #idleTimer: Timer | undefined;
  #lastUsedMs = 0;
  readonly #keeper: ChangeKeeper | undefined;
  /** The file is to say from where on changes are kept, or that they are not any more. */
  #marksKeeping: boolean;

  constructor(file: LmdbFile, lock: FolderLock, { clock = systemClock, history, compactionIntervalMs = 0, keeping }: EmbeddedEngineOptions) {
    super(new ChangeLog(file.revision, { clock, limits: history, isFresh: file.isFresh }));
    this.#file = file;
    this.#lock = lock;
    this.#clock = clock;
    this.#lastRevision = file.revision;
    this.#keeper = keeping && new ChangeKeeper(keeping, file.keptChanges(), file.keptSince ?? file.revision);
    this.#marksKeeping = (file.keptSince === undefined) === (this.#keeper !== undefined);
    this.#sweeper = new ExpirySweeper(
      {
        firstExpiryMs: () => file.expiries(1)[0]?.expiresAtMs,
        due: (nowMs, limit) => file.expiries(limit, nowMs),
        expire: (expiries) => this.#expire(expiries),
      },
      clock,
    );
    this.compactEvery(compactionIntervalMs, clock);
    file.beginCheckpoint();
  }

  async read(key: string): Promise<KeyState> {
    this.assertOpen();
    while (this.#remapped) await this.#remapped;
    return { stored: this.#read(key), revision: this.log.revision };
  }

  async rangeWithin(bounds: KeyBounds, options: RangeOptions): Promise<RangeResult> {
    await this.#untilBetweenBatches();
    this.assertOpen();
    const { revision = this.log.revision } = options;
    this.#tidyLater();
    if (revision === this.log.revision) return currentRange(this.#file, bounds, revision, options);
    return pastRange(this.#file, bounds, this.log.changedSince(bounds, revision), revision, options);
  }

  async commit(change: StorageChange): Promise<number> {
    this.assertOpen();
    const before = this.#turns.get(change.key);
    const turn: Turn = { ended: undefined, end: undefined };
    this.#turns.set(change.key, turn);
    if (before) await endOf(before);
    try {
      if (this.#failure instanceof StorageBroken) throw this.#failure;
      if (Buffer.byteLength(change.key) > MAX_KEY_BYTES)
        throw new StorageUnavailable(`a key of ${Buffer.byteLength(change.key)} bytes is longer than the ${MAX_KEY_BYTES} that the store takes`);
      while (this.#remapped) await this.#remapped;
      const previous = this.#read(change.key);
      if ((previous?.revision ?? 0) !== change.expected || (change.type === 'delete' && !previous)) throw new CommitConflict(change.key, previous);
      return await new Promise<number>((resolve, reject) => {
        this.#queue.push({ change, previous, resolve, reject });
        this.#startWriting();
      });
    } finally {
      if (this.#turns.get(change.key) === turn) this.#turns.delete(change.key);
      turn.end?.();
    }
  }

  async leases(): Promise<StoredLeases> {
    await this.#untilBetweenBatches();
    this.assertOpen();
    return this.#file.leases();
  }

  async changeLeases(change: LeaseChange): Promise<void> {
    this.assertOpen();
    await new Promise<void>((resolve, reject) => {
      this.#leaseQueue.push({ change, resolve, reject });
      this.#startWriting();
    });
    for (const { expiresAtMs } of change.added ?? []) this.#sweeper.wakeAt(expiresAtMs);
  }

  override get keptChanges(): KeptChanges | undefined {
    const keeper = this.#keeper;
    return (
      keeper && {
        since: keeper.since,
        recover: () => keeper.recover(async (key) => (await this.get(key))?.value),
        release: (revision) => keeper.release(revision),
      }
    );
  }

  override statistics(): StoreStatistics | undefined {
    return this.isClosed || this.#remapped || this.#failure instanceof StorageBroken ? undefined : this.#file.statistics();
  }

  async checkHealth(): Promise<void> {
    this.assertOpen();
    if (this.#failure === undefined) return;
    // Whether there is room again shows only in a write.
    if (!(this.#failure instanceof StorageBroken)) {
      this.#startWriting();
      await this.#batchDone;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    await Promise.all([this.#sweeper.stop(), this.stopCompacting()]);
    this.isClosed = true;
    this.#checkpointTimer?.cancel();
    this.#idleTimer?.cancel();
    while (this.#remapped) await this.#remapped;
    while (this.#turns.size > 0 || this.#isScheduled) {
      const turn = this.#turns.values().next().value;
      await (turn ? endOf(turn) : this.#batchDone);
    }
    if (this.#keeper?.hasReleased && this.#failure === undefined) await this.#write({ writes: [], revision: this.#lastRevision, ...this.#keeper.keep([]) });
    // A broken LMDB may never say that it has ended.
    if (!(this.#failure instanceof StorageBroken)) await this.#file.close();
    await this.#lock.release();
  }

  #read(key: string): Stored | undefined {
    return this.#inFlight.has(key) ? this.#inFlight.get(key) : this.#file.get(key);
  }

  /** Between two batches the file is exactly what watchers have been told. */
  async #untilBetweenBatches(): Promise<void> {
    for (;;) {
      if (this.#isInFlight || this.#remapped) await (this.#remapped ?? this.#batchDone);
      else if (this.#file.mapsMoreThan(MAPPED_BYTES_MAX) && this.#failure === undefined) await this.#remap();
      else return;
    }
  }

  #startWriting(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#batchDone = new Promise((resolve) => {
      // Changes of requests that were read in the same turn of the event loop go together; and whoever waited for the last batch may read before the next.
      setImmediate(() => void this.#writeBatch().then(resolve));
    });
  }

  /** Never rejects: what goes wrong is told to the commits concerned. */
  async #writeBatch(): Promise<void> {
    while (this.#remapped) await this.#remapped;
    const batch = this.#takeBatch();
    const leases = this.#leaseQueue.splice(0);
    const events = batch.map(({ change, previous }) => this.#eventOf(change, previous));
    const writes = events.map((event, i) => this.#writeOf(event, batch[i]!.change));
    this.#inFlight = new Map(batch.map(({ change, previous }) => [change.key, previous]));
    this.#isInFlight = true;
    const kept = { ...(this.#marksKeeping && { keptSince: this.#keeper?.since }), ...this.#keeper?.keep(events) };
    this.#failure = await this.#write({ writes, leases: leases.map(({ change }) => change), revision: this.#lastRevision, ...kept });
    this.#keeper?.settled(this.#failure === undefined);
    this.#marksKeeping &&= this.#failure !== undefined;
    this.#inFlight = new Map();
    this.#isInFlight = false;
    this.#settle(batch, leases, events);
    for (const { expiresAtMs } of writes) this.#sweeper.wakeAt(expiresAtMs);
    if (this.#file.mapsMoreThan(MAPPED_BYTES_MAX)) await this.#remap();
    else this.#tidyLater();
    this.#isScheduled = false;
    if (this.#queue.length + this.#leaseQueue.length > 0) this.#startWriting();
  }

  #takeBatch(): Pending[] {
    let sizeBytes = 0;
    const beyond = this.#queue.findIndex(
      ({ change }, i) => i === CHANGES_A_BATCH || (sizeBytes += change.type === 'put' ? change.value.length : 0) > BYTES_A_BATCH,
    );
    return this.#queue.splice(0, beyond === -1 ? this.#queue.length : Math.max(beyond, 1));
  }

  async #write(transaction: FileTransaction): Promise<StorageUnavailable | undefined> {
    try {
      await this.#file.write(transaction);
      return undefined;
    } catch (error) {
      return error instanceof StorageUnavailable ? error : new StorageUnavailable((error as Error).message, { cause: error });
    }
  }

  /** Gives the pages back that LMDB has looked at. Not while a batch is in flight. */
  async #remap(): Promise<void> {
    if (this.#failure !== undefined) return;
    this.#remapped = this.#file.remap().catch((error: Error) => {
      this.#failure = new StorageBroken(`${error.message}; it needs a restart`);
    });
    await this.#remapped;
    this.#remapped = undefined;
    this.#sweeper.wakeAt(this.#file.expiries(1)[0]?.expiresAtMs);
  }

  /** What is in the journal goes to where it stays, soon, and pages are given back once nobody uses the store. */
  #tidyLater(): void {
    this.#lastUsedMs = this.#clock.now();
    this.#checkpointTimer ??= this.#clock.after(CHECKPOINT_MS, () => {
      this.#checkpointTimer = undefined;
      if (!this.isClosed && !this.#remapped) this.#file.beginCheckpoint();
    });
    this.#idleTimer ??= this.#clock.after(IDLE_MS, () => this.#giveBackIfIdle());
  }

  #giveBackIfIdle(): void {
    this.#idleTimer = undefined;
    if (this.isClosed || this.#remapped) return;
    const leftMs = this.#lastUsedMs + IDLE_MS - this.#clock.now();
    if (leftMs > 0) this.#idleTimer = this.#clock.after(leftMs, () => this.#giveBackIfIdle());
    else if (!this.#isScheduled && this.#file.mapsMoreThan(MAPPED_BYTES_IDLE_MAX)) void this.#remap();
  }

  /** Watchers first: who is told of its commit finds it everywhere. */
  #settle(batch: Pending[], leases: PendingLeases[], events: StoredEvent[]): void {
    const failure = this.#failure;
    if (failure === undefined) {
      this.log.publish(events);
      for (const [i, pending] of batch.entries()) pending.resolve(events[i]!.revision);
      for (const pending of leases) pending.resolve();
    } else {
      for (const waiting of [...batch, ...leases]) waiting.reject(failure);
    }
  }

  #eventOf(change: StorageChange, previous: Stored | undefined): StoredEvent {
    const { type, key, annotation } = change;
    const revision = ++this.#lastRevision;
    const value = type === 'put' ? change.value : undefined;
    const event: StoredEvent = this.#keeper
      ? { type, key, revision, value, previous, annotation, timeMs: this.#clock.now() }
      : { type, key, revision, value, previous };
    if (type === 'put' && change.lease) event.leaseId = change.lease.id;
    return event;
  }

  #writeOf({ key, value, revision, previous }: StoredEvent, change: StorageChange): FileTransaction['writes'][number] {
    const write = { key, value, revision, createdRevision: previous?.createdRevision, version: (previous?.version ?? 0) + 1 };
    if (change.type === 'delete') return write;
    const { lease, ttlSeconds } = change;
    if (lease) return { ...write, expiresAtMs: lease.expiresAtMs, leaseId: lease.id };
    return ttlSeconds === undefined ? write : { ...write, expiresAtMs: this.#clock.now() + ttlSeconds * 1_000 };
  }

  async #expire(expiries: Expiry[]): Promise<void> {
    await Promise.all(expiries.filter((expiry) => !this.isExpiryMoved(expiry)).map(({ key, revision }) => this.#expireKey(key, revision)));
    await this.changeLeases({ ended: expiries });
  }

  async #expireKey(key: string, revision: number): Promise<void> {
    try {
      if (this.#read(key)?.revision === revision) await this.commit({ type: 'delete', key, expected: revision });
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
  }
}

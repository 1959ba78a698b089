import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve as absolute } from 'node:path';
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
import { ChangeLog, type ChangeLogLimits } from './change-log.ts';
import { type FolderLock, lockFolder } from './folder-lock.ts';
import { type Lease, LeaseSweeper } from './lease-sweeper.ts';
import { type FileTransaction, LmdbFile, MAX_KEY_BYTES, StorageBroken } from './lmdb-file.ts';
import { FIRST_REVISION } from './memory.ts';
import { cut } from './range.ts';

interface EmbeddedEngineOptions {
  folder: string;
  clock?: Clock;
  history?: ChangeLogLimits;
}

/** Opens the store in the folder, made if its parent exists. Throws StorageUnavailable with one line that tells why not. */
export async function openEmbeddedEngine(options: EmbeddedEngineOptions): Promise<Engine> {
  const folder = absolute(options.folder);
  await makeFolder(folder);
  const lock = await lockFolder(folder);
  try {
    return new EmbeddedEngine(new LmdbFile(folder, FIRST_REVISION), lock, options);
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

/** A change that was judged good and is on its way to the disk. */
interface Pending {
  change: Change;
  previous: Stored | undefined;
  resolve: (revision: number) => void;
  reject: (error: Error) => void;
}

/** Leases that have done their work and are to be forgotten. */
interface EndedLeases {
  leases: Lease[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A transaction takes changes up to these bounds: what others wait for stays short. */
const CHANGES_A_BATCH = 1_000;
const BYTES_A_BATCH = 8 * 1024 * 1024;

/**
 * One machine's store: LMDB holds the state, this process its recent history.
 *
 * Group commit: while one transaction is being synced, further changes gather; then all of them become the next. A change is judged against what
 * is on disk, alone for its key (others of the same key wait their turn), and is seen by nobody before it is on disk:
 *
 *     commit → turn of its key → judged → queue → batch in flight → on disk → watchers → commit resolves
 */
class EmbeddedEngine implements Engine {
  readonly isSingleWriter = true;
  readonly #file: LmdbFile;
  readonly #lock: FolderLock;
  readonly #clock: Clock;
  readonly #log: ChangeLog;
  readonly #sweeper: LeaseSweeper;
  /** The end of each key's line of commits. */
  readonly #turns = new Map<string, Promise<void>>();
  /** The keys of the batch in flight, with what is still their value to everybody. LMDB may show the new one a moment earlier. */
  readonly #inFlight = new Map<string, Stored | undefined>();
  #queue: Pending[] = [];
  #ended: EndedLeases[] = [];
  #isScheduled = false;
  #isInFlight = false;
  /** When the batch in flight, or the one about to be, is done. */
  #batchDone: Promise<void> = Promise.resolve();
  /** The newest revision given to a change; those of failed batches are never given again. */
  #lastRevision: number;
  #failure: StorageUnavailable | undefined;
  #isClosed = false;

  constructor(file: LmdbFile, lock: FolderLock, { clock = systemClock, history }: EmbeddedEngineOptions) {
    this.#file = file;
    this.#lock = lock;
    this.#clock = clock;
    this.#lastRevision = file.revision;
    this.#log = new ChangeLog(file.revision, history);
    this.#sweeper = new LeaseSweeper(
      {
        firstExpiryMs: () => file.leases(1)[0]?.expiresAtMs,
        due: (nowMs, limit) => file.leases(limit, nowMs),
        expire: (leases) => this.#expire(leases),
      },
      clock,
    );
  }

  async get(key: string): Promise<Stored | undefined> {
    this.#assertOpen();
    return this.#read(key);
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<Range> {
    // Between two batches the file is exactly what watchers have been told.
    while (this.#isInFlight) await this.#batchDone;
    this.#assertOpen();
    const { after, limit, revision } = options;
    if (revision !== undefined && revision !== this.#log.revision) return this.#pastRange(prefix, revision, options);
    const items = this.#file.range(prefix, after, limit);
    const remaining = limit !== undefined && items.length === limit ? this.#file.count(prefix, items.at(-1)?.key ?? after) : 0;
    return { items, revision: this.#log.revision, remaining };
  }

  async commit(change: Change): Promise<number> {
    this.#assertOpen();
    const endTurn = await this.#takeTurn(change.key);
    try {
      if (this.#failure instanceof StorageBroken) throw this.#failure;
      if (Buffer.byteLength(change.key) > MAX_KEY_BYTES)
        throw new StorageUnavailable(`a key of ${Buffer.byteLength(change.key)} bytes is longer than the ${MAX_KEY_BYTES} that the store takes`);
      const previous = this.#read(change.key);
      if ((previous?.revision ?? 0) !== change.expected || (change.type === 'delete' && !previous)) throw new CommitConflict(change.key, previous);
      return await new Promise<number>((resolve, reject) => {
        this.#queue.push({ change, previous, resolve, reject });
        this.#startWriting();
      });
    } finally {
      endTurn();
    }
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
    if (this.#failure === undefined) return;
    // Whether there is room again shows only in a write.
    if (!(this.#failure instanceof StorageBroken)) {
      this.#startWriting();
      await this.#batchDone;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#sweeper.stop();
    this.#isClosed = true;
    while (this.#turns.size > 0 || this.#isScheduled) await (this.#turns.values().next().value ?? this.#batchDone);
    // A broken LMDB may never say that it has ended.
    if (!(this.#failure instanceof StorageBroken)) await this.#file.close();
    await this.#lock.release();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StorageUnavailable('the store is closed');
  }

  #read(key: string): Stored | undefined {
    return this.#inFlight.has(key) ? this.#inFlight.get(key) : this.#file.get(key);
  }

  #pastRange(prefix: string, revision: number, options: RangeOptions): Range {
    this.#log.assertKept(revision);
    const items = new Map(this.#file.range(prefix, undefined, undefined).map((stored) => [stored.key, stored]));
    this.#log.rollBack(items, prefix, revision);
    return cut(items.values(), revision, options);
  }

  /** Waits for the commits of the key that came before; the next one waits until the answer is called. */
  async #takeTurn(key: string): Promise<() => void> {
    const before = this.#turns.get(key);
    let end!: () => void;
    const turn = new Promise<void>((resolve) => (end = resolve));
    this.#turns.set(key, turn);
    if (before) await before;
    return () => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
      end();
    };
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
    const batch = this.#takeBatch();
    const ended = this.#ended.splice(0);
    const events = batch.map(({ change, previous }) => this.#eventOf(change, previous));
    const writes = events.map(({ key, value, revision }, i) => ({ key, value, revision, expiresAtMs: this.#expiryOf(batch[i]!.change) }));
    for (const { change, previous } of batch) this.#inFlight.set(change.key, previous);
    this.#isInFlight = true;
    this.#failure = await this.#write({ writes, endedLeases: ended.flatMap(({ leases }) => leases), revision: this.#lastRevision });
    this.#inFlight.clear();
    this.#isInFlight = false;
    this.#isScheduled = false;
    this.#settle(batch, ended, events);
    for (const { expiresAtMs } of writes) this.#sweeper.wakeAt(expiresAtMs);
    if (this.#queue.length + this.#ended.length > 0) this.#startWriting();
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

  /** Watchers first: who is told of its commit finds it everywhere. */
  #settle(batch: Pending[], ended: EndedLeases[], events: StoredEvent[]): void {
    const failure = this.#failure;
    if (failure === undefined) {
      this.#log.publish(events);
      for (const [i, pending] of batch.entries()) pending.resolve(events[i]!.revision);
      for (const leases of ended) leases.resolve();
    } else {
      for (const waiting of [...batch, ...ended]) waiting.reject(failure);
    }
  }

  #eventOf(change: Change, previous: Stored | undefined): StoredEvent {
    return { type: change.type, key: change.key, revision: ++this.#lastRevision, value: change.type === 'put' ? change.value : undefined, previous };
  }

  #expiryOf(change: Change): number | undefined {
    return change.type === 'put' && change.ttlSeconds !== undefined ? this.#clock.now() + change.ttlSeconds * 1_000 : undefined;
  }

  async #expire(leases: Lease[]): Promise<void> {
    await Promise.all(leases.map(({ key, revision }) => this.#expireKey(key, revision)));
    await new Promise<void>((resolve, reject) => {
      this.#ended.push({ leases, resolve, reject });
      this.#startWriting();
    });
  }

  async #expireKey(key: string, revision: number): Promise<void> {
    try {
      if (this.#read(key)?.revision === revision) await this.commit({ type: 'delete', key, expected: revision });
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
  }
}

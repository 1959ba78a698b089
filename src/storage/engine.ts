/**
 * A linearizable, revisioned, ordered key-value store: the contract that `engines/memory.ts`, `engines/embedded.ts` and `engines/etcd/engine.ts` keep.
 * One suite, `engines/contract.ts`, runs against all of them.
 *
 * Revisions are positive integers that grow by at least one with every commit, over all keys, and never repeat, across restarts too.
 * Keys compare as UTF-8 bytes.
 */
export interface Engine {
  /** The current value; linearizable. */
  get(key: string): Promise<Stored | undefined>;

  /**
   * Keys that start with `prefix`, ascending, from one consistent state.
   * `after`: only keys beyond this one. `limit`: at most so many. `revision`: the state as of that revision; throws Compacted when it is no longer kept,
   * and RangeError when it has not been reached. `hasExactCount` false: `remaining` need only tell whether there are more.
   */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>;

  /**
   * Applies the change if the key's revision is `expected` (0: the key is absent) and answers with the change's revision once it is durable.
   * Throws CommitConflict, with the key's current value, otherwise; by then that value is visible to `get` and to watchers' queues. Commits of one key
   * are decided in the order in which they came. The engine keeps `change.value`: nobody may write to it afterwards. A delete of an absent key conflicts.
   */
  commit(change: StorageChange): Promise<number>;

  /**
   * Calls `sink` with every change of keys under `prefix` whose revision is `from` or later, in revision order, with no gap and no repetition,
   * changes of one revision in one call. Throws Compacted (from this call, or later through `onError`) when `from` is no longer kept.
   * A single writer delivers changes in the same turn in which `commit` resolves, or earlier; others do so with their own commits, unless the way to
   * the store is broken, and with everybody else's as soon as they hear of them. `sink` must not throw, and must not keep or change the array.
   * `onProgress` tells a revision up to which all changes have been delivered, where the engine learns of one without a change under `prefix`.
   */
  watch(
    prefix: string,
    from: number,
    sink: (events: StoredEvent[]) => void,
    onError?: (error: Error) => void,
    onProgress?: (revision: number) => void,
  ): Subscription;

  /** The newest revision; linearizable. Concurrent callers may share one round trip. */
  currentRevision(): Promise<number>;

  /**
   * True when this process is the store's only writer, and every change reaches watchers before `commit` resolves. Readers of a cache fed by
   * `watch` then need no `currentRevision` to be consistent.
   */
  readonly isSingleWriter: boolean;

  /** Forgets history before `revision`. */
  compact(revision: number): Promise<void>;

  /**
   * The oldest revision whose state may be asked for: what is older has been compacted, by this process or, as far as it knows, by another. 0 before the first
   * compaction. Caches that could still tell an older state must not (a continue token ends for all servers at the same time).
   */
  readonly oldestRevision: number;

  /** Throws when the store does not work, with a message for `/readyz`. `timeoutMs`: how long it may take to answer, where it could be long. */
  checkHealth(timeoutMs?: number): Promise<void>;

  /** Where the engine was opened to keep changes until another has taken them over (`KeptChanges`). */
  readonly keptChanges?: KeptChanges | undefined;

  /** Waits for pending commits, then lets go of files and connections. */
  close(): Promise<void>;
}

/**
 * Changes that are kept beside the objects, in the transaction that made them, until whoever records them has them on a disk of its own: a crash in between
 * loses none of them, nor who made it.
 */
export interface KeptChanges {
  /** Every change after this revision was kept, until it was released. */
  readonly since: number;
  /**
   * Those that were kept when the store was opened, oldest first. A value that is overwritten since is told with them; the one before the first of a key only
   * where it was not released either, or is always kept (`ChangeKeeping.keepsPrevious`).
   */
  recover(): Promise<KeptEvent[]>;
  /** All up to this revision have been taken over. */
  release(revision: number): void;
}

/** Which changes an engine keeps. */
export interface ChangeKeeping {
  keeps(key: string): boolean;
  /** Whether the value before is to be kept too, where others know it. */
  keepsPrevious(key: string): boolean;
}

/** As StoredEvent, but that of `previous` the revision may be all that is known. */
export interface KeptEvent extends Omit<StoredEvent, 'previous'> {
  timeMs: number;
  annotation: Buffer | undefined;
  /** 0: there was none. */
  previousRevision: number;
  previous: Buffer | undefined;
}

export interface Stored {
  key: string;
  value: Buffer;
  /** Of the change that wrote this value. */
  revision: number;
  /** Of the change that created the key, and the number of its writes since then, that one included: told by engines of this process, for etcd's API. */
  createdRevision?: number;
  version?: number;
  /** Encrypted otherwise than a new value would be, so that a write is due even where nothing changes. Told by `get`. */
  isStale?: boolean;
}

export interface RangeOptions {
  after?: string;
  limit?: number;
  revision?: number;
  /** Default: true. */
  hasExactCount?: boolean;
}

export interface RangeResult {
  items: Stored[];
  /** The state's revision: what a list's resourceVersion is. */
  revision: number;
  /** Keys beyond the last item, when a limit cut the range. */
  remaining: number;
}

export type StorageChange = Put | Delete;

export interface Put {
  type: 'put';
  key: string;
  value: Buffer;
  /** The revision the key must have; 0 when it must not exist. */
  expected: number;
  /** Removed by the store itself after so many seconds. */
  ttlSeconds?: number;
  /** The lease of etcd's API that it expires with, in place of `ttlSeconds`: for engines of this process. */
  lease?: { id: bigint; expiresAtMs: number };
  annotation?: Buffer | undefined;
}

export interface Delete {
  type: 'delete';
  key: string;
  expected: number;
  /** What is told with the change's event, and kept with it: who made it (registry/write-author.ts). Told by engines of this process. */
  annotation?: Buffer | undefined;
}

export interface StoredEvent {
  type: 'put' | 'delete';
  key: string;
  /** The change's revision. */
  revision: number;
  /** The new value; undefined for a delete. */
  value: Buffer | undefined;
  /** The value before; undefined for a create. */
  previous: Stored | undefined;
  /** The lease of etcd's API that the key is attached to by this change: told by engines of this process. */
  leaseId?: bigint;
  /** As it was given with the change: told by engines of this process. */
  annotation?: Buffer | undefined;
  /** When it was written, where the engine keeps changes. */
  timeMs?: number;
}

export interface Subscription {
  close(): void;
  /** Somebody waits for a revision that may have no change under the prefix: makes `onProgress` called soon, where that takes asking. */
  requestProgress?(): void;
}

/** The key is not at the revision that the change expected. */
export class CommitConflict extends Error {
  readonly key: string;
  readonly current: Stored | undefined;
  constructor(key: string, current: Stored | undefined) {
    super(`${key} is at revision ${current?.revision ?? 0}`);
    this.key = key;
    this.current = current;
  }
}

/** History of that age is gone. */
export class Compacted extends Error {
  readonly oldestRevision: number;
  constructor(oldestRevision: number) {
    super(`the requested revision has been compacted; the oldest kept is ${oldestRevision}`);
    this.oldestRevision = oldestRevision;
  }
}

/**
 * Another state has taken the place of the store's last one, all of it in the revision that is named; no history is left. Whoever watches may take in the
 * differences, and watch on from behind that revision; to all others it is a compaction.
 */
export class StoreReset extends Compacted {
  readonly events: readonly StoredEvent[];
  constructor(revision: number, events: readonly StoredEvent[]) {
    super(revision);
    this.events = events;
  }
}

/** The store cannot be opened or written, for a reason that the message tells the operator in one line. */
export class StorageUnavailable extends Error {}

/** And no waiting will help: an address is none, or something else than the store answers there. */
export class StorageMisconfigured extends StorageUnavailable {}

import type { Clock, Timer } from '../../util/clock.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { encodeDelta } from '../../encoding/byte-delta.ts';
import { HistoryBlocks, RecordsPruned } from './history-blocks.ts';
import type { HistoryDatabase, HistoryMeta } from './history-database.ts';
import { isWholeRef, type ObjectHistory, seqOf } from './history-index.ts';
import { HistoryPruner, type HistoryLimits } from './history-pruner.ts';
import { HistoryReader, type KeptVersion, type HistoryPosition } from './history-reader.ts';
import type { ChangeRecord } from './record-block.ts';

/** Of an object, so many versions are deltas before one is whole again: what it takes to read any of them is bounded. */
const DELTAS_A_WHOLE = 16;
/** What was handed over waits so long, so that many are worked on together. */
const GATHER_MS = 20;
/** Beyond so much the writer itself works it off: nothing is lost, and memory is bounded. */
const QUEUE_MAX_BYTES = 8 * 1024 * 1024;
/** After a change, what is not full is written too. */
const FLUSH_MS = 1_000;
const PRUNE_MS = 60_000;

/** A committed write, as the store tells of it. The buffers are only read. */
export interface HandedChange {
  type: 'put' | 'delete';
  key: string;
  revision: number;
  timeMs: number;
  value: Buffer | undefined;
  /** Undefined where there was none, or it is not known. */
  previous: Buffer | undefined;
  /** 0: there was none. */
  previousRevision: number;
  annotation: Buffer | undefined;
}

export interface HistoryObserver {
  recorded(changes: number): void;
  pruned(changes: number): void;
  failed(error: Error): void;
}

/** What becomes of values that are not to be kept as they are. */
export interface ValueGuard {
  /** Whether the objects at this key are kept as they are stored. */
  isPlain(key: string): boolean;
  /** What is kept of a change's versions. `before`: what is kept of the version before it, where something is. */
  guard(change: HandedChange, before: KeptVersion | undefined): Promise<GuardedChange>;
  /** The stored value of what was encrypted. */
  decrypt(key: string, value: Buffer): Promise<Buffer>;
}

export interface GuardedChange {
  previous: Buffer | undefined;
  value: Buffer | undefined;
  isEncrypted: boolean;
}

interface HistoryOptions {
  database: HistoryDatabase;
  clock: Clock;
  limits: HistoryLimits;
  guard: ValueGuard;
  observer: HistoryObserver;
  /** Called with the revision up to which everything is as durable as it gets. */
  onDurable?: (revision: number) => void;
}

/**
 * Every version of every object within some time, with who made it.
 *
 *     record → queue → (soon, in slices) guarded, compared with the one before → block in memory → (a second later, or when it is full) database
 *
 * Writers only hand over what they have at hand. Readers wait until the queue is empty.
 */
export class KeptHistory {
  readonly reader: HistoryReader;
  readonly #options: HistoryOptions;
  readonly #blocks: HistoryBlocks;
  readonly #pruner: HistoryPruner;
  #queue: HandedChange[] = [];
  #queueBytes = 0;
  #working: Promise<void> | undefined;
  #gatherTimer: Timer | undefined;
  #flushTimer: Timer | undefined;
  #pruneTimer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #pruning: Promise<boolean> | undefined;
  #meta: HistoryMeta;
  /** Up to where records are in blocks. */
  #revision: number;
  #timeMs: number;
  #isClosed = false;
  readonly #listeners = new Set<() => void>();

  private constructor(options: HistoryOptions, blocks: HistoryBlocks, meta: HistoryMeta) {
    this.#options = options;
    this.#blocks = blocks;
    this.#meta = meta;
    this.#revision = meta.revision;
    this.#timeMs = meta.timeMs;
    this.reader = new HistoryReader(blocks);
    this.#pruner = new HistoryPruner(blocks, this.reader, options.limits);
    this.#pruneTimer = options.clock.after(PRUNE_MS, () => this.#pruneAgain());
  }

  /**
   * Goes on where the database ends, if that is at a revision for which `isKnown` holds: all that came after will be handed over. Else it begins anew, with
   * the state of `revision`.
   */
  static async open(options: HistoryOptions, revision: number, isKnown: (revision: number) => boolean): Promise<KeptHistory> {
    const { meta, directories, objects } = await options.database.load();
    const blocks = new HistoryBlocks(options.database);
    if (meta && isKnown(meta.revision)) {
      blocks.load({ directories, objects }, meta.nextObjectId);
      return new KeptHistory(options, blocks, meta);
    }
    const nowMs = options.clock.now();
    const fresh: HistoryMeta = { format: 1, startRevision: revision, startTimeMs: nowMs, revision, timeMs: nowMs, nextObjectId: 1 };
    const removed = { removedBlocks: directories.map(({ name }) => name), removedObjects: objects.map(({ id }) => id) };
    await options.database.write({ meta: fresh, blocks: [], objects: [], ...removed });
    return new KeptHistory(options, blocks, fresh);
  }

  /** Begins anew with the state of that revision: what is kept is not true of what came since. */
  async restart(revision: number): Promise<void> {
    this.#queue = [];
    this.#queueBytes = 0;
    while (this.#working || this.#flushing) await (this.#working ?? this.#flushing);
    const nowMs = this.#options.clock.now();
    const nextObjectId = this.#blocks.index.nextObjectId;
    const meta: HistoryMeta = { ...this.#meta, startRevision: revision, startTimeMs: nowMs, revision, timeMs: nowMs, nextObjectId };
    const { blocks: removedBlocks, objects: removedObjects } = this.#blocks.clear();
    this.#revision = revision;
    this.#timeMs = nowMs;
    this.#meta = meta;
    await this.#options.database.write({ meta, blocks: [], objects: [], removedBlocks, removedObjects });
  }

  /** From where on everything is known. */
  get start(): { revision: number; timeMs: number } {
    return { revision: this.#meta.startRevision, timeMs: this.#meta.startTimeMs };
  }

  /** The newest revision that was worked on. */
  get revision(): number {
    return this.#revision;
  }

  get statistics(): { queued: number; changes: number; objects: number; sizeBytes: number } {
    const { index } = this.#blocks;
    return { queued: this.#queue.length, changes: index.nextSeq - index.firstSeq, objects: index.objectCount, sizeBytes: this.#blocks.sizeBytes };
  }

  /** Whether nothing of the object is kept yet: then what it was before its next change must be handed over with that. */
  isNew(key: string): boolean {
    return (this.#blocks.index.get(key)?.refs.length ?? 0) === 0;
  }

  /** Hands over changes in their order, newer ones than all before. Costs next to nothing. */
  record(changes: readonly HandedChange[]): void {
    for (const change of changes) {
      if (change.revision <= this.#revision) continue;
      this.#queue.push(change);
      this.#queueBytes += (change.value?.length ?? 0) + (change.previous?.length ?? 0);
    }
    if (this.#queueBytes > QUEUE_MAX_BYTES) void this.#work();
    else this.#gatherTimer ??= this.#options.clock.after(GATHER_MS, () => void this.#work());
  }

  /** Calls back whenever there are further records. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when all that was handed over before can be read. */
  async drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#working) await this.#work();
  }

  #work(): Promise<void> {
    this.#gatherTimer?.cancel();
    this.#gatherTimer = undefined;
    return (this.#working ??= this.#workOff().finally(() => (this.#working = undefined)));
  }

  async #workOff(): Promise<void> {
    while (this.#pruning) await this.#pruning;
    const slice = new TimeSlice();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      const isLong = this.#queueBytes > QUEUE_MAX_BYTES;
      this.#queueBytes = 0;
      for (const change of batch) {
        const added = this.#add(change);
        if (added) await added;
        // Writers that are ahead wait for as much as they have handed over.
        if (!isLong && slice.isSpent) await slice.next();
      }
      this.#options.observer.recorded(batch.length);
      for (const listener of this.#listeners) listener();
      this.#flushSoon();
    }
  }

  #add(change: HandedChange): void | Promise<void> {
    const { guard } = this.#options;
    if (change.revision <= this.#revision) return;
    if (guard.isPlain(change.key)) return this.#addVersions(change, change.previous, change.value, false);
    return this.#addGuarded(change);
  }

  async #addGuarded(change: HandedChange): Promise<void> {
    const known = this.#blocks.index.get(change.key);
    const before = known && (await this.reader.latest(known));
    const { previous, value, isEncrypted } = await this.#options.guard.guard(change, before);
    this.#addVersions(change, previous, value, isEncrypted);
  }

  #addVersions(change: HandedChange, previous: Buffer | undefined, value: Buffer | undefined, isEncrypted: boolean): void {
    const { key, revision, previousRevision, annotation, type } = change;
    const blocks = this.#blocks;
    const object = blocks.index.get(key) ?? blocks.addObject(key);
    if (change.timeMs > this.#timeMs) this.#timeMs = change.timeMs;
    this.#revision = revision;
    const timeMs = this.#timeMs;
    const objectId = object.id;
    // Written out, and not spread: that took V8 longer than all the rest.
    if (object.refs.length === 0 && previous)
      blocks.append(object, {
        revision,
        timeMs,
        objectId,
        type: 'initial',
        isWhole: true,
        isEncrypted,
        previousRevision,
        annotation: undefined,
        payload: previous,
      });
    const delta = type === 'put' && previous && !isEncrypted && deltasOf(object) < DELTAS_A_WHOLE ? encodeDelta(previous, value!) : undefined;
    const payload = delta ?? value ?? EMPTY;
    blocks.append(object, { revision, timeMs, objectId, type, isWhole: delta === undefined, isEncrypted, previousRevision, annotation, payload });
  }

  #flushSoon(): void {
    if (this.#isClosed) return;
    this.#flushTimer ??= this.#options.clock.after(FLUSH_MS, () => void this.flush());
    if (this.#blocks.fullCount > 0) void this.#flush(false);
  }

  /** Brings all that was worked on to the database. What fails is told, and tried again with what comes next. */
  async flush(): Promise<void> {
    this.#flushTimer?.cancel();
    this.#flushTimer = undefined;
    while (this.#flushing) await this.#flushing;
    await this.#flush(true);
  }

  /** `includesOpen`: the block that is being filled too. */
  #flush(includesOpen: boolean): Promise<void> {
    return (this.#flushing ??= this.#writeBlocks(includesOpen).finally(() => (this.#flushing = undefined)));
  }

  async #writeBlocks(includesOpen: boolean): Promise<void> {
    const { database, observer, onDurable } = this.#options;
    try {
      const meta = { ...this.#meta, revision: this.#revision, timeMs: this.#timeMs, nextObjectId: this.#blocks.index.nextObjectId };
      const unwritten = await this.#blocks.unwritten(meta, includesOpen);
      if (unwritten) {
        await database.write(unwritten.change);
        unwritten.written();
        this.#meta = unwritten.change.meta;
        onDurable?.(this.#meta.revision);
      }
      await this.#prune();
    } catch (error) {
      observer.failed(error as Error);
      if (!this.#isClosed) this.#flushTimer ??= this.#options.clock.after(FLUSH_MS, () => void this.flush());
    }
  }

  /** What is too old, or too much, goes, and what objects were before what stays is kept instead. Nothing is added meanwhile. */
  async #prune(): Promise<void> {
    while (!this.#isClosed) {
      while (this.#working) await this.#working;
      this.#pruning = this.#pruneOnce().finally(() => (this.#pruning = undefined));
      if (await this.#pruning) return;
    }
  }

  /** Answers whether nothing is left to go. */
  async #pruneOnce(): Promise<boolean> {
    const { database, clock, observer } = this.#options;
    const pruned = await this.#pruner.next(clock.now());
    if (!pruned) return true;
    const { start, changes, finish, ...write } = pruned;
    const meta = { ...this.#meta, startRevision: start.revision, startTimeMs: start.timeMs };
    await database.write({ meta, ...write });
    this.#meta = meta;
    finish();
    observer.pruned(changes);
    return false;
  }

  #pruneAgain(): void {
    if (this.#isClosed) return;
    this.#pruneTimer = this.#options.clock.after(PRUNE_MS, () => this.#pruneAgain());
    void this.flush();
  }

  async close(): Promise<void> {
    await this.drain();
    this.#isClosed = true;
    for (const timer of [this.#gatherTimer, this.#flushTimer, this.#pruneTimer]) timer?.cancel();
    await this.#flushing;
    await this.flush();
    await this.#options.database.close();
  }

  /** The moment that a time or a revision names; undefined where that is no longer kept. */
  momentAt(at: { timeMs: number } | { revision: number }): HistoryPosition | undefined {
    try {
      return this.#momentAt(at);
    } catch (error) {
      if (error instanceof RecordsPruned) return undefined;
      throw error;
    }
  }

  #momentAt(at: { timeMs: number } | { revision: number }): HistoryPosition | undefined {
    const { revision: startRevision, timeMs: startTimeMs } = this.start;
    if ('revision' in at) {
      if (at.revision < startRevision) return undefined;
      return { seq: this.reader.seqAtRevision(at.revision), revision: at.revision };
    }
    if (at.timeMs < startTimeMs) return undefined;
    const seq = this.reader.seqAtTime(at.timeMs);
    return { seq, revision: this.#blocks.index.spanOf(seq) ? this.#blocks.recordAt(seq).revision : startRevision };
  }

  /** The numbers of the records that are kept: from the first to before the second. */
  get range(): [number, number] {
    return [this.#blocks.index.firstSeq, this.#blocks.index.nextSeq];
  }

  /** The numbers from `first` to before `end` of records of objects whose key is wanted, in order. */
  async seqsOf(isWanted: (key: string) => boolean, first: number, end: number): Promise<Iterable<number>> {
    const slice = new TimeSlice();
    const seqs: number[] = [];
    for (const { key, refs } of this.#blocks.index.objects) {
      if (isWanted(key)) for (const ref of refs) if (seqOf(ref) >= first && seqOf(ref) < end) seqs.push(seqOf(ref));
      if (slice.isSpent) await slice.next();
    }
    return Float64Array.from(seqs).sort();
  }

  recordAt(seq: number): { key: string; record: ChangeRecord } {
    const record = this.#blocks.recordAt(seq);
    return { key: this.#blocks.index.byId(record.objectId)!.key, record };
  }
}

const EMPTY = Buffer.alloc(0);

function deltasOf({ refs }: ObjectHistory): number {
  let deltas = 0;
  while (deltas < refs.length && !isWholeRef(refs[refs.length - 1 - deltas]!)) deltas++;
  // With none that is whole, what the object was before is kept apart.
  return deltas;
}

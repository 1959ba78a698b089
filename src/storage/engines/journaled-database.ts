import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { StorageUnavailable } from '../engine.ts';
import type { FileBounds, FileEntry, FileOperation } from './file-operation.ts';
import { HALF_BYTES, Journal, encodeRecord, type JournalRecord, isJournalFile, makeJournalFile, readJournal } from './journal.ts';
import { LmdbDatabase, LmdbSnapshot, StorageBroken, type StoreStatistics, type Volume, isDiskFull, volumeOf } from './lmdb-database.ts';
import { UnwrittenOperations, textOf } from './unwritten-operations.ts';

export const JOURNAL_FILE = 'journal';
/** In LMDB: which journal belongs to it, and the number of its newest record whose changes are there too. */
const POSITION_KEY = Buffer.from('mjournal');
/** A store that is hardly written to has no journal. */
const JOURNAL_FROM_WRITES = 8;
const SNAPSHOT_ATTEMPTS = 100;

interface Position {
  id: Buffer;
  number: number;
}

/** Changes of records up to a number. */
interface FilledHalf {
  operations: UnwrittenOperations;
  lastNumber: number;
}

interface JournalOptions {
  /** What LMDB holds from when there is a journal: programs that do not know of it must not open the file. */
  marks: readonly FileOperation[];
}

/**
 * LMDB with a journal in front of it (journal.ts): a write is done when it is in the journal, and is in memory until it is in LMDB. All that is read is LMDB's
 * content with what is still on its way to it:
 *
 *     write → journal, #filling → (the half is full, or a checkpoint is asked for) → #filled → LMDB
 *
 * What is larger than half a journal goes to LMDB at once, after all that came before; so does everything where there is no journal.
 */
export class JournaledDatabase {
  readonly #database: LmdbDatabase;
  readonly #folder: string;
  readonly #options: JournalOptions | undefined;
  #journal: Journal | undefined;
  /** The file for one is there. */
  #isMade = false;
  #making: Promise<void> | undefined;
  #writes = 0;
  #isAppending = false;
  /** Of the newest record. */
  #number = 0;
  /** What is in the half of the journal that is being filled, and in the other one: what LMDB does not have. */
  #filling = new UnwrittenOperations();
  #filled: FilledHalf | undefined;
  #checkpoint: Promise<void> | undefined;
  #failure: StorageBroken | undefined;

  /** Without options there is no journal but what another process left. The folder must exist. */
  constructor(folder: string, options?: JournalOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#database = new LmdbDatabase(folder);
    try {
      this.#recover();
    } catch (error) {
      void this.#database.close();
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#database.isEmpty;
  }

  get(key: Buffer): FileEntry | undefined {
    const text = textOf(key);
    const operation = this.#filling.get(text) ?? this.#filled?.operations.get(text);
    if (operation === undefined) return this.#database.get(key);
    const { value, version } = operation;
    return value && { key, value, version };
  }

  range(bounds: FileBounds, limit?: number): Iterable<FileEntry> {
    const unwritten = this.#unwritten();
    return unwritten.size === 0 ? this.#database.range(bounds, limit) : unwritten.rangeOver(this.#database, bounds, limit);
  }

  count(bounds: FileBounds): number {
    return this.#unwritten().countOver(this.#database, bounds);
  }

  /** Resolves once all of it is on disk; rejects, with nothing of it written, otherwise. One at a time. */
  async write(operations: readonly FileOperation[]): Promise<void> {
    if (this.#failure) throw this.#failure;
    const room = this.#database.ensureRoom(this.#volumeWith(operations));
    if (room !== true) await room;
    const journal = this.#journal;
    const record = journal && encodeRecord(journal.id, this.#number + 1, operations);
    if (!journal || !record || record.length > HALF_BYTES || !(await this.#append(journal, record))) return this.#writeThrough(operations);
    this.#number++;
    this.#filling.add(operations);
  }

  /** Brings LMDB up to date, beside what else is done; later, where it cannot be done now. */
  beginCheckpoint(): void {
    if (this.#isAppending) return;
    if (!this.#filled) this.#turnOver();
    this.#finishCheckpoint().catch(() => undefined);
  }

  /** As of the last checkpoint. */
  statistics(): StoreStatistics {
    return this.#database.statistics();
  }

  /** Not while a write is under way; nothing can be read meanwhile. */
  async remap(): Promise<void> {
    await this.#finishCheckpoint();
    await this.#database.remap();
  }

  async close(): Promise<void> {
    // What cannot be written now is in the journal, and found there by the next one to open it.
    await this.#checkpointAll().catch(() => undefined);
    await this.#making;
    this.#journal?.close();
    await this.#database.close();
  }

  #recover(): void {
    const path = join(this.#folder, JOURNAL_FILE);
    const position = positionIn(this.#database);
    if (!position || !isJournalFile(path)) return;
    const records = readJournal(path, position.id, position.number);
    if (!records) throw new StorageUnavailable(`cannot open the store in ${this.#folder}: its journal is damaged before its end`);
    this.#number = position.number + records.length;
    if (records.length > 0) this.#filled = { operations: operationsOf(records), lastNumber: this.#number };
    this.#journal = new Journal(path, position.id);
  }

  #unwritten(): UnwrittenOperations {
    return this.#filled ? new UnwrittenOperations(this.#filled.operations, this.#filling) : this.#filling;
  }

  #volumeWith(operations: readonly FileOperation[]): Volume {
    const sum = volumeOf(operations);
    for (const { volume } of [this.#filling, this.#filled?.operations ?? NOTHING]) {
      sum.keys += volume.keys;
      sum.pages += volume.pages;
    }
    return sum;
  }

  async #writeThrough(operations: readonly FileOperation[]): Promise<void> {
    await this.#checkpointAll();
    const begun = this.#options && this.#isMade && !this.#journal ? { id: randomBytes(8), number: 0 } : undefined;
    await this.#database.write(begun ? [...this.#options!.marks, positionOf(begun), ...operations] : operations);
    if (begun) {
      this.#number = begun.number;
      this.#journal = new Journal(join(this.#folder, JOURNAL_FILE), begun.id);
    } else if (this.#options && !this.#journal && ++this.#writes === JOURNAL_FROM_WRITES) {
      this.#making = makeJournalFile(join(this.#folder, JOURNAL_FILE)).then((isMade) => void (this.#isMade = isMade));
    }
  }

  /** False where the file cannot be written to now. */
  async #append(journal: Journal, record: Buffer): Promise<boolean> {
    this.#isAppending = true;
    try {
      if (!journal.hasRoomFor(record)) {
        await this.#finishCheckpoint();
        this.#turnOver();
        this.#finishCheckpoint().catch(() => undefined);
      }
      await journal.append(record);
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      // Then the record is not there, or not all of it, and the next one is written in its place. After other failures it may be there.
      if (isDiskFull(error as Error)) return false;
      this.#failure = new StorageBroken(`cannot write to the store in ${this.#folder}: ${(error as Error).message}; it needs a restart`, { cause: error });
      throw this.#failure;
    } finally {
      this.#isAppending = false;
    }
  }

  /** Not while a write is under way. */
  async #checkpointAll(): Promise<void> {
    await this.#finishCheckpoint();
    this.#turnOver();
    await this.#finishCheckpoint();
  }

  /** Goes on in the other half, of which LMDB has everything; what this one holds is to go there now. */
  #turnOver(): void {
    this.#journal?.turnOver();
    if (this.#filling.size === 0) return;
    this.#filled = { operations: this.#filling, lastNumber: this.#number };
    this.#filling = new UnwrittenOperations();
  }

  /** Resolves when nothing of the other half is missing in LMDB. What has failed before is tried again, unless nothing can be known any more. */
  async #finishCheckpoint(): Promise<void> {
    if (!this.#filled) return;
    if (this.#failure) throw this.#failure;
    this.#checkpoint ??= this.#writeFilled(this.#filled).finally(() => (this.#checkpoint = undefined));
    await this.#checkpoint;
  }

  async #writeFilled({ operations, lastNumber }: FilledHalf): Promise<void> {
    try {
      await this.#database.write([...operations.values(), positionOf({ id: this.#journal!.id, number: lastNumber })]);
      this.#filled = undefined;
    } catch (error) {
      if (error instanceof StorageBroken) this.#failure = error;
      throw error;
    }
  }
}

const NOTHING = new UnwrittenOperations();

function operationsOf(records: readonly JournalRecord[]): UnwrittenOperations {
  const unwritten = new UnwrittenOperations();
  for (const { operations } of records) unwritten.add(operations);
  return unwritten;
}

const positionOf = ({ id, number }: Position): FileOperation => ({ key: POSITION_KEY, value: Buffer.from(`${id.toString('hex')} ${number}`), version: 0 });

function positionIn(database: Pick<LmdbDatabase, 'get'>): Position | undefined {
  const entry = database.get(POSITION_KEY);
  if (!entry) return undefined;
  const [id = '', number = ''] = entry.value.toString().split(' ');
  return { id: Buffer.from(id, 'hex'), number: Number(number) };
}

/** What is in the store at one moment, for a process other than the one that writes it. */
export interface DatabaseSnapshot {
  readonly isEmpty: boolean;
  get(key: Buffer): FileEntry | undefined;
  range(bounds: FileBounds): Iterable<FileEntry>;
  count(bounds: FileBounds): number;
  close(): Promise<void>;
}

/** With all that was acknowledged before. */
export function openDatabaseSnapshot(folder: string): DatabaseSnapshot {
  for (let attempt = 1; ; attempt++) {
    const written = new LmdbSnapshot(folder);
    const position = positionIn(written);
    const records = position ? readJournal(join(folder, JOURNAL_FILE), position.id, position.number) : [];
    if (records) return snapshotOf(written, operationsOf(records));
    // The writer has written over records since, whose changes are in LMDB now.
    void written.close();
    if (attempt === SNAPSHOT_ATTEMPTS) throw new StorageUnavailable(`cannot read the store in ${folder}: its journal is damaged before its end`);
  }
}

const snapshotOf = (written: LmdbSnapshot, unwritten: UnwrittenOperations): DatabaseSnapshot => ({
  isEmpty: written.isEmpty,
  get: (key) => unwritten.getOver(written, key),
  range: (bounds) => unwritten.rangeOver(written, bounds),
  count: (bounds) => unwritten.countOver(written, bounds),
  close: () => written.close(),
});

import { type RootDatabase, type Transaction, open } from 'lmdb';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { StorageUnavailable } from '../engine.ts';
import type { FileBounds, FileEntry, FileOperation } from './file-operation.ts';
import { FileRoom } from './file-room.ts';

export const DATA_FILE = 'data.mdb';
/** What every LMDB file has in its first bytes: 0xbeefc0de. */
const MAGIC = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const HEADER_BYTES = 64;

const MDB_MAP_FULL = -30_792;
const EIO = 5;
const FULL_CODES = new Set([28 /* ENOSPC */, 122 /* EDQUOT */, 27 /* EFBIG */, MDB_MAP_FULL]);
/** With less than this, a short write is a full disk. */
const FULL_BELOW_BYTES = 1024 * 1024;

export const isDiskFull = ({ errno = 0 }: NodeJS.ErrnoException): boolean => FULL_CODES.has(-errno);

export interface StoreStatistics {
  sizeBytes: number;
  freeBytes: number;
  pages: number;
  freePages: number;
}

interface TreeStats {
  treeDepth: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

interface DatabaseStats {
  pageSize: number;
  lastPageNumber: number;
  root: TreeStats;
  free: TreeStats;
}

const PAGE_BYTES = 4_096;
const META_PAGES = 2;
/** Beyond what the tree itself takes: the list of free pages, and a little. */
const SPARE_PAGES = 64;

/** How much is to be written: keys, and pages that their values take. */
export interface Volume {
  keys: number;
  pages: number;
}

export function volumeOf(operations: readonly FileOperation[]): Volume {
  let pages = 0;
  for (const { value } of operations) if (value !== undefined) pages += Math.ceil(value.length / PAGE_BYTES) + 1;
  return { keys: operations.length, pages };
}

/** After this failure it is unknown what the file holds; only a restart tells. */
export class StorageBroken extends StorageUnavailable {}

/** LMDB's file, of which one process at a time writes. It knows keys and values, and nothing of what they mean. */
export class LmdbDatabase {
  readonly #folder: string;
  readonly #room: FileRoom;
  #database: RootDatabase<Buffer, Buffer>;
  /** As of the last write. */
  #stats: DatabaseStats | undefined;
  #onFailure: ((code: number) => void) | undefined;

  /** The folder must exist. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#room = new FileRoom(join(folder, DATA_FILE));
    this.#database = openDatabase(folder);
    this.#listenForFailures();
  }

  get(key: Buffer): FileEntry | undefined {
    const entry = this.#database.getEntry(key);
    return entry && { key, value: entry.value, version: entry.version! };
  }

  range(bounds: FileBounds, limit?: number): Iterable<FileEntry> {
    return this.#database.getRange({ ...bounds, versions: true, ...(limit !== undefined && { limit }) }) as Iterable<FileEntry>;
  }

  count(bounds: FileBounds): number {
    // It writes to what it is given.
    return this.#database.getKeysCount({ ...bounds });
  }

  get isEmpty(): boolean {
    return this.#database.getKeysCount({ limit: 1 }) === 0;
  }

  /** Room in the file for so many changes, so that writing them finds the disk not full. True, or resolves when there is; rejects when there is none. */
  ensureRoom(volume: Volume): true | Promise<void> {
    const room = this.#room.ensure(this.#mostBytesAfter(volume));
    return room === true || room.catch((error: NodeJS.ErrnoException) => Promise.reject(this.#withoutRoom(error)));
  }

  /** Resolves once all of it is on disk; rejects, with nothing of it written, otherwise. One at a time. What is written last must be new. */
  async write(operations: readonly FileOperation[]): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.#onFailure = (code) => reject(new LmdbFailure(code));
    });
    try {
      // Without overlapping sync LMDB makes a transaction visible only when it is on disk, and this resolves after that.
      await Promise.race([this.#database.batch(() => this.#put(operations)), failed]);
    } catch (error) {
      throw error instanceof LmdbFailure ? await this.#explain(error, operations.at(-1)) : error;
    } finally {
      this.#onFailure = undefined;
      this.#stats = undefined;
    }
  }

  #put(operations: readonly FileOperation[]): void {
    for (const { key, value, version } of operations) void (value === undefined ? this.#database.remove(key) : this.#database.put(key, value, version));
  }

  /** How large the file may be once so much is written: every change may make new pages of its leaf and all above it, if there are so many. */
  #mostBytesAfter({ keys, pages }: Volume): number {
    this.#stats ??= this.#database.getStats() as DatabaseStats;
    const { pageSize, lastPageNumber, root } = this.#stats;
    const treePages = root.treeBranchPageCount + root.treeLeafPageCount;
    return (lastPageNumber + 1 + META_PAGES + SPARE_PAGES + keys + Math.min(keys * (root.treeDepth + 1), 2 * treePages) + pages) * pageSize;
  }

  #withoutRoom(error: NodeJS.ErrnoException): StorageUnavailable {
    const reason = isDiskFull(error) ? 'the disk is full' : error.message;
    return new StorageUnavailable(`cannot write to the store in ${this.#folder}: ${reason}`, { cause: error });
  }

  /** How large the file is, and how much of it is free for new content: LMDB's file does not shrink. */
  statistics(): StoreStatistics {
    const stats = this.#database.getStats() as DatabaseStats;
    const used = [stats.root, stats.free].reduce((sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages, META_PAGES);
    const pages = stats.lastPageNumber + 1;
    const freePages = Math.max(pages - used, 0);
    return { sizeBytes: pages * stats.pageSize, freeBytes: freePages * stats.pageSize, pages, freePages };
  }

  /**
   * Gives the mapped pages back: LMDB maps the file, and every page that it ever looked at counts as this process' memory until the kernel needs it for
   * others. Opening the file anew begins with none. Not while a write is under way; nothing can be read meanwhile.
   */
  async remap(): Promise<void> {
    await this.#database.close();
    this.#database = openDatabase(this.#folder);
    this.#stats = undefined;
    this.#listenForFailures();
  }

  async close(): Promise<void> {
    await Promise.all([this.#database.close(), this.#room.close()]);
  }

  /**
   * lmdb tells of a failed transaction by writing a stack trace to standard error, and after some failures does not settle its promise. So its native
   * callback is met before it: the code comes here, and lmdb only hears that there is something to look at (its status 1).
   */
  #listenForFailures(): void {
    const { env } = this.#database as unknown as { env: NativeEnvironment };
    const startWriting = env.startWriting.bind(env);
    const value: NativeEnvironment['startWriting'] = (address, callback) =>
      startWriting(address, (status) => {
        if (status === 0 || status === 1 || status === 2) return callback(status);
        this.#onFailure?.(status);
        return callback(1);
      });
    Object.defineProperty(env, 'startWriting', { value });
  }

  async #explain(failure: LmdbFailure, last: FileOperation | undefined): Promise<StorageUnavailable> {
    const { code } = failure;
    const subject = `cannot write to the store in ${this.#folder}`;
    if (FULL_CODES.has(code) || (code === EIO && (await freeBytes(this.#folder)) < FULL_BELOW_BYTES)) {
      return new StorageUnavailable(`${subject}: the disk is full`, { cause: failure });
    }
    this.#database.resetReadTxn();
    const isWritten = last?.value !== undefined && this.get(last.key)?.value.equals(last.value) === true;
    // LMDB's own errors are below zero, and leave it unusable.
    return isWritten || code < 0
      ? new StorageBroken(`${subject}: ${failure.message}; it needs a restart`)
      : new StorageUnavailable(`${subject}: ${failure.message}`);
  }
}

/** The file as it was at one moment, for a process other than the one that writes it. */
export class LmdbSnapshot {
  readonly #database: RootDatabase<Buffer, Buffer>;
  readonly #transaction: Transaction;

  constructor(folder: string) {
    if (!existsSync(join(folder, DATA_FILE))) throw new StorageUnavailable(`there is no store in ${folder}`);
    this.#database = openDatabase(folder, true);
    this.#transaction = this.#database.useReadTransaction();
  }

  get(key: Buffer): FileEntry | undefined {
    const entry = this.#database.getEntry(key, { transaction: this.#transaction });
    return entry && { key, value: entry.value, version: entry.version! };
  }

  range(bounds: FileBounds): Iterable<FileEntry> {
    return this.#database.getRange({ ...bounds, versions: true, transaction: this.#transaction }) as Iterable<FileEntry>;
  }

  count(bounds: FileBounds): number {
    return this.#database.getKeysCount({ ...bounds, transaction: this.#transaction });
  }

  get isEmpty(): boolean {
    return this.#database.getKeysCount({ limit: 1 }) === 0;
  }

  async close(): Promise<void> {
    this.#transaction.done();
    await this.#database.close();
  }
}

class LmdbFailure extends Error {
  readonly code: number;
  constructor(code: number) {
    super(code > 0 ? getSystemErrorName(-code) : `LMDB error ${code}`);
    this.code = code;
  }
}

interface NativeEnvironment {
  startWriting(address: number, callback: (status: number) => unknown): void;
}

/** Nobody but the server may read what it keeps. The map of the file into memory grows as the file does. */
const OPTIONS = {
  noSubdir: false,
  overlappingSync: false,
  eventTurnBatching: false,
  encoding: 'binary',
  keyEncoding: 'binary',
  useVersions: true,
  compression: false,
  permissionsMode: 0o600,
} as const;

function openDatabase(folder: string, readOnly = false): RootDatabase<Buffer, Buffer> {
  try {
    assertIsDatabase(join(folder, DATA_FILE));
    return open<Buffer, Buffer>({ ...OPTIONS, path: folder, readOnly });
  } catch (error) {
    throw new StorageUnavailable(`cannot open the store in ${folder}: ${(error as Error).message}`, { cause: error });
  }
}

/** LMDB ends the process, without a word, on a file that is not its own. */
function assertIsDatabase(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const length = readSync(file, header, 0, HEADER_BYTES, 0);
    if (length > 0 && !header.includes(MAGIC)) throw new Error(`${path} is not a store's file`);
  } finally {
    closeSync(file);
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

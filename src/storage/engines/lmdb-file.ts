import { type RootDatabase, open } from 'lmdb';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { StorageUnavailable, type Stored } from '../engine.ts';
import { prefixEnd } from '../key-order.ts';
import { FileRoom } from './file-room.ts';
import type { Expiry } from './expiry-sweeper.ts';
import type { LeaseChange, StoredLeases } from './lease-change.ts';
import { type KeyBounds, underPrefix } from './range.ts';

/**
 * What the file holds, each key behind one letter:
 *
 *     k/registry/pods/default/web     the revision that created the key, the number of its writes, and the value; LMDB's version of the entry is the
 *                                     revision that wrote it
 *     t0001763200000123/registry/…    an expiry, in the order in which they come; its version is the revision it belongs to, its value the lease, if any
 *     l1234567890abcdef               a lease of etcd's API: its seconds, and when it ends
 *     mformat, mrevision              the number of this layout, and the newest revision
 *     mcounted                        entries of this revision and older ones are of format 1: their value alone
 */
const KEYS = 'k';
const EXPIRIES = 't';
const LEASES = 'l';
const FORMAT_KEY = Buffer.from('mformat');
const REVISION_KEY = Buffer.from('mrevision');
const COUNTED_KEY = Buffer.from('mcounted');

/** Raised when older programs could not read what newer ones write. */
const FORMAT = 2;
/** Before the value: a float64 and a uint32. */
const ENTRY_HEADER_BYTES = 12;
const EXPIRY_DIGITS = 16;
/** LMDB's limit with pages of 4 KiB, less our letter and an expiry's time. */
export const MAX_KEY_BYTES = 1_978 - 1 - EXPIRY_DIGITS;

const MDB_MAP_FULL = -30_792;
const EIO = 5;
const FULL_CODES = new Set([28 /* ENOSPC */, 122 /* EDQUOT */, 27 /* EFBIG */, MDB_MAP_FULL]);
/** What every LMDB file has in its first bytes: 0xbeefc0de. */
const MAGIC = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const HEADER_BYTES = 64;
const DATA_FILE = 'data.mdb';
/** A page for the key and one above it. */
const BYTES_A_LOOKUP = 2 * 4096;
/** With less than this, a short write is a full disk. */
const FULL_BELOW_BYTES = 1024 * 1024;

interface FileWrite {
  key: string;
  /** Undefined removes the key. */
  value: Buffer | undefined;
  revision: number;
  /** Default: the key is new. */
  createdRevision?: number | undefined;
  version?: number | undefined;
  expiresAtMs?: number | undefined;
  leaseId?: bigint | undefined;
}

export interface FileTransaction {
  writes: readonly FileWrite[];
  leases?: readonly LeaseChange[];
  /** The newest revision once this is written. */
  revision: number;
}

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

const META_PAGES = 2;
/** Beyond what the tree itself takes: the list of free pages, and a little. */
const SPARE_PAGES = 64;

/** After this failure it is unknown what the file holds; only a restart tells. */
export class StorageBroken extends StorageUnavailable {}

/** The one file of the embedded engine. It knows no conflicts and no watchers. */
export class LmdbFile {
  /** When the file was opened. */
  readonly revision: number;
  /** Nothing had been written to it then. */
  readonly isFresh: boolean;
  readonly #folder: string;
  readonly #room: FileRoom;
  #database: RootDatabase<Buffer, Buffer>;
  #isOpen = true;
  #mappedBytes = 0;
  #format: number;
  /** Entries of newer revisions have a header. */
  #countedRevision: number;
  #onFailure: ((code: number) => void) | undefined;

  /** The folder must exist. `firstRevision` is that of a fresh file. */
  constructor(folder: string, firstRevision: number) {
    this.#folder = folder;
    this.#room = new FileRoom(join(folder, DATA_FILE));
    this.#database = openDatabase(folder);
    try {
      this.#format = checkFormat(this.#database, folder);
      this.isFresh = this.#format === 0;
      this.revision = this.#format > 0 ? readRevision(this.#database) : firstRevision;
      this.#countedRevision = readCountedRevision(this.#database, this.#format);
    } catch (error) {
      void this.#database.close();
      throw error;
    }
    this.#listenForFailures();
  }

  get(key: string): Stored | undefined {
    this.#mappedBytes += BYTES_A_LOOKUP;
    const entry = this.#database.getEntry(Buffer.from(KEYS + key));
    return entry && storedOf(key, entry.value, entry.version!, this.#countedRevision);
  }

  range(bounds: KeyBounds, limit: number | undefined): Stored[] {
    const items: Stored[] = [];
    for (const { key, value, version } of this.#database.getRange({ ...storedBounds(bounds), versions: true, ...(limit !== undefined && { limit }) })) {
      items.push(storedOf(key.toString('utf8', KEYS.length), value, version!, this.#countedRevision));
      this.#mappedBytes += value.length;
    }
    return items;
  }

  count(bounds: KeyBounds): number {
    return this.#database.getKeysCount(storedBounds(bounds));
  }

  expiries(limit: number, dueByMs = Infinity): Expiry[] {
    const expiries: Expiry[] = [];
    if (!this.#isOpen) return expiries;
    for (const { key, value, version } of this.#database.getRange({ ...allBehind(EXPIRIES), versions: true, limit })) {
      const expiry = expiryOf(key, value, version!);
      if (expiry.expiresAtMs > dueByMs) break;
      expiries.push(expiry);
    }
    return expiries;
  }

  leases(): StoredLeases {
    const granted = [];
    for (const { key, value } of this.#database.getRange(allBehind(LEASES))) {
      const [ttlSeconds = 0, expiresAtMs = 0] = value.toString().split(' ').map(Number);
      granted.push({ id: idOf(key.toString('utf8', LEASES.length)), ttlSeconds, expiresAtMs });
    }
    return { granted, expiries: this.expiries(Infinity) };
  }

  /** Resolves once all of it is on disk; rejects, with nothing of it written, otherwise. One at a time. */
  async write(transaction: FileTransaction): Promise<void> {
    const room = this.#room.ensure(this.#mostBytesAfter(transaction));
    if (room !== true) await room.catch((error: NodeJS.ErrnoException) => Promise.reject(this.#withoutRoom(error)));
    const failed = new Promise<never>((_, reject) => {
      this.#onFailure = (code) => reject(new LmdbFailure(code));
    });
    try {
      // Without overlapping sync LMDB makes a transaction visible only when it is on disk, and this resolves after that.
      await Promise.race([this.#database.batch(() => this.#put(transaction)), failed]);
      this.#format = FORMAT;
    } catch (error) {
      throw error instanceof LmdbFailure ? await this.#explain(error, transaction) : error;
    } finally {
      this.#onFailure = undefined;
    }
  }

  /** How large the file may be once this is written: every change may make new pages of its leaf and all above it, if there are so many. */
  #mostBytesAfter({ writes, leases = [] }: FileTransaction): number {
    const { pageSize, lastPageNumber, root } = this.#database.getStats() as DatabaseStats;
    const keys = leases.reduce((sum, change) => sum + countOf(change), 2 * writes.length + META_PAGES);
    const treePages = root.treeBranchPageCount + root.treeLeafPageCount;
    let pages = lastPageNumber + 1 + SPARE_PAGES + keys + Math.min(keys * (root.treeDepth + 1), 2 * treePages);
    for (const { value } of writes) if (value) pages += Math.ceil(value.length / pageSize) + 1;
    return pages * pageSize;
  }

  #withoutRoom(error: NodeJS.ErrnoException): StorageUnavailable {
    const isFull = FULL_CODES.has(-(error.errno ?? 0));
    return new StorageUnavailable(`cannot write to the store in ${this.#folder}: ${isFull ? 'the disk is full' : error.message}`, { cause: error });
  }

  /** How large the file is, and how much of it is free for new content: LMDB's file does not shrink. */
  statistics(): StoreStatistics {
    const stats = this.#database.getStats() as DatabaseStats;
    const used = [stats.root, stats.free].reduce((sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages, META_PAGES);
    const pages = stats.lastPageNumber + 1;
    const freePages = Math.max(pages - used, 0);
    return { sizeBytes: pages * stats.pageSize, freeBytes: freePages * stats.pageSize, pages, freePages };
  }

  /** About how much of the file this process has mapped into its memory by looking at it. */
  get mappedBytes(): number {
    return this.#mappedBytes;
  }

  /**
   * Gives the mapped pages back: LMDB maps the file, and every page that it ever looked at counts as this process' memory until the kernel needs it for
   * others. Opening the file anew begins with none. Not while a write is under way; nothing can be read
   * meanwhile, and nothing seems to expire.
   */
  async remap(): Promise<void> {
    this.#isOpen = false;
    await this.#database.close();
    this.#database = openDatabase(this.#folder);
    this.#isOpen = true;
    this.#mappedBytes = 0;
    this.#listenForFailures();
  }

  async close(): Promise<void> {
    await Promise.all([this.#database.close(), this.#room.close()]);
  }

  #put({ writes, leases = [], revision }: FileTransaction): void {
    const database = this.#database;
    if (this.#format < FORMAT) {
      void database.put(FORMAT_KEY, Buffer.from(String(FORMAT)), 0);
      void database.put(COUNTED_KEY, Buffer.from(String(this.#countedRevision)), 0);
    }
    for (const write of writes) {
      const key = Buffer.from(KEYS + write.key);
      if (write.value === undefined) void database.remove(key);
      else void database.put(key, entryOf(write, write.value), write.revision);
      const { expiresAtMs } = write;
      if (expiresAtMs !== undefined) this.#putExpiry({ ...write, expiresAtMs });
    }
    for (const change of leases) this.#changeLeases(change);
    void database.put(REVISION_KEY, Buffer.from(String(revision)), 0);
  }

  #putExpiry({ key, expiresAtMs, leaseId, revision }: Omit<FileWrite, 'value'> & { expiresAtMs: number }): void {
    void this.#database.put(expiryKey(key, expiresAtMs), leaseId === undefined ? EMPTY : Buffer.from(idDigits(leaseId)), revision);
  }

  #changeLeases({ granted = [], revoked = [], ended = [], added = [] }: LeaseChange): void {
    const database = this.#database;
    for (const { id, ttlSeconds, expiresAtMs } of granted) void database.put(leaseKey(id), Buffer.from(`${ttlSeconds} ${Math.trunc(expiresAtMs)}`), 0);
    for (const id of revoked) void database.remove(leaseKey(id));
    for (const { key, expiresAtMs } of ended) void database.remove(expiryKey(key, expiresAtMs));
    for (const expiry of added) this.#putExpiry(expiry);
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

  async #explain(failure: LmdbFailure, transaction: FileTransaction): Promise<StorageUnavailable> {
    const { code } = failure;
    const subject = `cannot write to the store in ${this.#folder}`;
    if (FULL_CODES.has(code) || (code === EIO && (await freeBytes(this.#folder)) < FULL_BELOW_BYTES)) {
      return new StorageUnavailable(`${subject}: the disk is full`, { cause: failure });
    }
    this.#database.resetReadTxn();
    const isWritten = readRevision(this.#database) >= transaction.revision;
    // LMDB's own errors are below zero, and leave it unusable.
    return isWritten || code < 0
      ? new StorageBroken(`${subject}: ${failure.message}; it needs a restart`)
      : new StorageUnavailable(`${subject}: ${failure.message}`);
  }
}

const EMPTY = Buffer.alloc(0);

class LmdbFailure extends Error {
  readonly code: number;
  constructor(code: number) {
    super(code > 0 ? getSystemErrorName(-code) : `LMDB error ${code}`);
    this.code = code;
  }
}

/** One object of a store that is read as a whole. */
export interface SnapshotItem extends Stored {
  expiresAtMs: number | undefined;
}

/** A store as it was at one moment, for a process other than the one that writes it. */
export interface Snapshot {
  readonly revision: number;
  readonly count: number;
  /** In the order of their keys. */
  items(): Iterable<SnapshotItem>;
  close(): Promise<void>;
}

/** Reads a store that this or another process may be writing meanwhile: LMDB's readers see the last change that is on disk, and hold up nobody. */
export function openSnapshot(folder: string): Snapshot {
  if (!existsSync(join(folder, DATA_FILE))) throw new StorageUnavailable(`there is no store in ${folder}`);
  const database = openDatabase(folder, true);
  const transaction = database.useReadTransaction();
  const close = async (): Promise<void> => {
    transaction.done();
    await database.close();
  };
  try {
    const format = checkFormat(database, folder);
    if (format === 0) throw new StorageUnavailable(`the store in ${folder} is empty`);
    const read = (start: string): Iterable<{ key: Buffer; value: Buffer; version?: number }> =>
      database.getRange({ start: Buffer.from(start), end: Buffer.from(prefixEnd(start)!), versions: true, transaction });
    const expiries = new Map<string, number>();
    for (const { key, value, version } of read(EXPIRIES)) {
      const expiry = expiryOf(key, value, version!);
      expiries.set(`${expiry.revision} ${expiry.key}`, expiry.expiresAtMs);
    }
    const countedRevision = readCountedRevision(database, format);
    return {
      revision: Number(database.get(REVISION_KEY, { transaction })?.toString() ?? 0),
      count: database.getKeysCount({ ...storedBounds(underPrefix('', undefined)), transaction }),
      *items() {
        for (const { key: stored, value, version } of read(KEYS)) {
          const key = stored.toString('utf8', KEYS.length);
          yield { ...storedOf(key, value, version!, countedRevision), expiresAtMs: expiries.get(`${version} ${key}`) };
        }
      },
      close,
    };
  } catch (error) {
    void close();
    throw error;
  }
}

/** 0 for a file that nothing has been written to. */
function checkFormat(database: RootDatabase<Buffer, Buffer>, folder: string): number {
  const text = database.get(FORMAT_KEY)?.toString();
  if (text === undefined) {
    if (database.getKeysCount({ limit: 1 }) > 0) throw new StorageUnavailable(`the file in ${folder} is a database of another program's`);
    return 0;
  }
  if (!(Number(text) <= FORMAT))
    throw new StorageUnavailable(`the store in ${folder} has format ${text}, and this version reads up to ${FORMAT}; use a newer version`);
  return Number(text);
}

/** All entries of a file of format 1 are without a header, and none of a new one's. */
function readCountedRevision(database: RootDatabase<Buffer, Buffer>, format: number): number {
  return format === 1 ? readRevision(database) : Number(database.get(COUNTED_KEY)?.toString() ?? 0);
}

const readRevision = (database: RootDatabase<Buffer, Buffer>): number => Number(database.get(REVISION_KEY)?.toString() ?? 0);

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

const storedBounds = ({ start, isStartExcluded, end }: KeyBounds): { start: Buffer; end: Buffer; exclusiveStart: boolean } => ({
  start: Buffer.from(KEYS + start),
  end: Buffer.from(end === undefined ? prefixEnd(KEYS)! : KEYS + end),
  exclusiveStart: isStartExcluded,
});

const allBehind = (letter: string): { start: Buffer; end: Buffer } => ({ start: Buffer.from(letter), end: Buffer.from(prefixEnd(letter)!) });

const countOf = ({ granted = [], revoked = [], ended = [], added = [] }: LeaseChange): number => granted.length + revoked.length + ended.length + added.length;

function entryOf({ revision, createdRevision = revision, version = 1 }: FileWrite, value: Buffer): Buffer {
  const entry = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + value.length);
  entry.writeDoubleBE(createdRevision, 0);
  entry.writeUInt32BE(version, 8);
  value.copy(entry, ENTRY_HEADER_BYTES);
  return entry;
}

function storedOf(key: string, entry: Buffer, revision: number, countedRevision: number): Stored {
  // What an entry of format 1 was before is not known.
  if (revision <= countedRevision) return { key, value: entry, revision, createdRevision: revision, version: 1 };
  return { key, value: entry.subarray(ENTRY_HEADER_BYTES), revision, createdRevision: entry.readDoubleBE(0), version: entry.readUInt32BE(8) };
}

const expiryKey = (key: string, expiresAtMs: number): Buffer => Buffer.from(EXPIRIES + String(Math.trunc(expiresAtMs)).padStart(EXPIRY_DIGITS, '0') + key);
/** Numbers of leases are signed on the wire. */
const idDigits = (id: bigint): string => BigInt.asUintN(64, id).toString(16).padStart(16, '0');
const idOf = (digits: string): bigint => BigInt.asIntN(64, BigInt(`0x${digits}`));
const leaseKey = (id: bigint): Buffer => Buffer.from(LEASES + idDigits(id));

function expiryOf(stored: Buffer, value: Buffer, revision: number): Expiry {
  const text = stored.toString();
  const keyAt = EXPIRIES.length + EXPIRY_DIGITS;
  const expiry = { key: text.slice(keyAt), revision, expiresAtMs: Number(text.slice(EXPIRIES.length, keyAt)) };
  return value.length === 0 ? expiry : { ...expiry, leaseId: idOf(value.toString()) };
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

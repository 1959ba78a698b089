import { StorageUnavailable, type Stored } from '../engine.ts';
import { prefixEnd } from '../key-order.ts';
import type { Expiry } from './expiry-sweeper.ts';
import type { FileBounds, FileEntry, FileOperation } from './file-operation.ts';
import { type DatabaseSnapshot, JournaledDatabase, openDatabaseSnapshot } from './journaled-database.ts';
import type { LeaseChange, StoredLeases } from './lease-change.ts';
import type { StoreStatistics } from './lmdb-database.ts';
import { mappedFileBytes } from './mapped-file-bytes.ts';
import type { KeyBounds } from './range.ts';

/**
 * What the file holds, each key behind one letter:
 *
 *     k/registry/pods/default/web     the revision that created the key, the number of its writes, and the value; LMDB's version of the entry is the
 *                                     revision that wrote it
 *     t0001763200000123/registry/…    an expiry, in the order in which they come; its version is the revision it belongs to, its value the lease, if any
 *     l1234567890abcdef               a lease of etcd's API: its seconds, and when it ends
 *     h0000000000001234               changes of a batch that are kept until another has taken them over (kept-change.ts), by the revision of the first
 *     mkept                           the revision after which all changes were kept so
 *     mformat, mrevision              the number of this layout, and the newest revision
 *     mjournal                        how far LMDB has what the journal has (journaled-database.ts)
 *     mcounted                        entries of this revision and older ones are of format 1: their value alone
 */
const KEYS = 'k';
const EXPIRIES = 't';
const LEASES = 'l';
const KEPT_CHANGES = 'h';
const FORMAT_KEY = Buffer.from('mformat');
const REVISION_KEY = Buffer.from('mrevision');
const COUNTED_KEY = Buffer.from('mcounted');
const KEPT_SINCE_KEY = Buffer.from('mkept');

/** Raised when older programs could not read what newer ones write. The layout above; and that layout with changes that are in a journal first. */
const FORMAT = 2;
const JOURNALED_FORMAT = 3;
/** Before the value: a float64 and a uint32. */
const ENTRY_HEADER_BYTES = 12;
const EXPIRY_DIGITS = 16;
/** LMDB's limit with pages of 4 KiB, less our letter and an expiry's time. */
export const MAX_KEY_BYTES = 1_978 - 1 - EXPIRY_DIGITS;

/** A page for the key and one above it. */
const BYTES_A_LOOKUP = 2 * 4096;
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
  kept?: readonly KeptRecord[];
  /** Of those that need not be kept any longer. */
  released?: readonly number[];
  /** From which revision on changes are kept; undefined: no more. Absent: as before. */
  keptSince?: number | undefined;
  /** The newest revision once this is written. */
  revision: number;
}

/** Changes that are kept, as kept-change.ts encodes them, by the revision of the first. */
export interface KeptRecord {
  revision: number;
  value: Buffer;
}

/** What the embedded engine keeps on disk. It knows no conflicts and no watchers. */
export class LmdbFile {
  /** When the file was opened. */
  readonly revision: number;
  /** Nothing had been written to it then. */
  readonly isFresh: boolean;
  /** All changes after this revision were kept then; undefined where none are. */
  readonly keptSince: number | undefined;
  readonly #database: JournaledDatabase;
  #isOpen = true;
  /** The most of the file that may be mapped by what was looked at: what was looked at twice counts twice. */
  #lookedAtBytes = 0;
  /** What else of files this process has mapped: its own program, say. */
  #otherMappedBytes = mappedFileBytes();
  #format: number;
  /** Entries of newer revisions have a header. */
  #countedRevision: number;

  /** The folder must exist. `firstRevision` is that of a fresh file. */
  constructor(folder: string, firstRevision: number, { isJournaled }: { isJournaled: boolean }) {
    this.#database = new JournaledDatabase(folder, isJournaled ? { marks: [JOURNALED] } : undefined);
    try {
      this.#format = checkFormat(this.#database, folder);
      this.isFresh = this.#format === 0;
      this.revision = this.#format > 0 ? readRevision(this.#database) : firstRevision;
      this.#countedRevision = readCountedRevision(this.#database, this.#format);
      const since = textAt(this.#database, KEPT_SINCE_KEY);
      this.keptSince = since === undefined ? undefined : Number(since);
    } catch (error) {
      void this.#database.close();
      throw error;
    }
  }

  get(key: string): Stored | undefined {
    this.#lookedAtBytes += BYTES_A_LOOKUP;
    const entry = this.#database.get(Buffer.from(KEYS + key));
    return entry && storedOf(key, entry, this.#countedRevision);
  }

  range(bounds: KeyBounds, limit: number | undefined): Stored[] {
    const items: Stored[] = [];
    for (const entry of this.#database.range(storedBounds(bounds), limit)) {
      items.push(storedOf(entry.key.toString('utf8', KEYS.length), entry, this.#countedRevision));
      this.#lookedAtBytes += entry.value.length;
    }
    return items;
  }

  count(bounds: KeyBounds): number {
    return this.#database.count(storedBounds(bounds));
  }

  expiries(limit: number, dueByMs = Infinity): Expiry[] {
    const expiries: Expiry[] = [];
    if (!this.#isOpen) return expiries;
    for (const entry of this.#database.range(allBehind(EXPIRIES), limit)) {
      const expiry = expiryOf(entry);
      if (expiry.expiresAtMs > dueByMs) break;
      expiries.push(expiry);
    }
    return expiries;
  }

  leases(): StoredLeases {
    const granted = [];
    for (const { key, value } of this.#database.range(allBehind(LEASES))) {
      const [ttlSeconds = 0, expiresAtMs = 0] = value.toString().split(' ').map(Number);
      granted.push({ id: idOf(key.toString('utf8', LEASES.length)), ttlSeconds, expiresAtMs });
    }
    return { granted, expiries: this.expiries(Infinity) };
  }

  /** Changes that are kept, oldest first. */
  keptChanges(): KeptRecord[] {
    return keptIn(this.#database);
  }

  /** Resolves once all of it is on disk; rejects, with nothing of it written, otherwise. One at a time. */
  async write(transaction: FileTransaction): Promise<void> {
    await this.#database.write(this.#operationsOf(transaction));
    this.#format = Math.max(this.#format, FORMAT);
  }

  /** What was written lately is in the journal, and in memory: this brings it to where it stays, beside what else is done. */
  beginCheckpoint(): void {
    this.#database.beginCheckpoint();
  }

  /** How large the file is, and how much of it is free for new content: LMDB's file does not shrink. */
  statistics(): StoreStatistics {
    return this.#database.statistics();
  }

  /** Whether this process has mapped more than so much of the file into its memory by looking at it. */
  mapsMoreThan(limitBytes: number): boolean {
    if (this.#lookedAtBytes <= limitBytes) return false;
    // Only now is the kernel asked, which takes some twenty microseconds.
    const allMappedBytes = mappedFileBytes();
    if (allMappedBytes === undefined || this.#otherMappedBytes === undefined) return true;
    const mappedBytes = allMappedBytes - this.#otherMappedBytes;
    if (mappedBytes > limitBytes) return true;
    // Close to the limit, too, the next lookups do not ask again at once.
    this.#lookedAtBytes = Math.min(Math.max(mappedBytes, 0), (limitBytes * 7) / 8);
    return false;
  }

  /** Gives the mapped pages back (LmdbDatabase.remap). Not while a write is under way; nothing can be read meanwhile, and nothing seems to expire. */
  async remap(): Promise<void> {
    this.#isOpen = false;
    await this.#database.remap();
    this.#isOpen = true;
    this.#lookedAtBytes = 0;
    this.#otherMappedBytes = mappedFileBytes();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #operationsOf(transaction: FileTransaction): FileOperation[] {
    const { writes, leases = [], kept = [], released = [], keptSince, revision } = transaction;
    const operations: FileOperation[] = [];
    if ('keptSince' in transaction) operations.push(keptSince === undefined ? remove(KEPT_SINCE_KEY) : put(KEPT_SINCE_KEY, String(keptSince)));
    if (this.#format < FORMAT) operations.push(put(FORMAT_KEY, String(FORMAT)), put(COUNTED_KEY, String(this.#countedRevision)));
    for (const write of writes) {
      const { key, value, expiresAtMs } = write;
      operations.push({ key: Buffer.from(KEYS + key), value: value && entryOf(write, value), version: write.revision });
      if (expiresAtMs !== undefined) operations.push(putExpiry({ ...write, expiresAtMs }));
    }
    for (const change of leases) operations.push(...leaseOperations(change));
    for (const change of kept) operations.push({ key: keptKey(change.revision), value: change.value, version: change.revision });
    for (const each of released) operations.push(remove(keptKey(each)));
    operations.push(put(REVISION_KEY, String(revision)));
    return operations;
  }
}

const put = (key: Buffer, text: string): FileOperation => ({ key, value: Buffer.from(text), version: 0 });
const remove = (key: Buffer): FileOperation => ({ key, value: undefined, version: 0 });

const JOURNALED = put(FORMAT_KEY, String(JOURNALED_FORMAT));

const putExpiry = ({ key, expiresAtMs, leaseId, revision }: Omit<FileWrite, 'value'> & { expiresAtMs: number }): FileOperation => ({
  key: expiryKey(key, expiresAtMs),
  value: leaseId === undefined ? EMPTY : Buffer.from(idDigits(leaseId)),
  version: revision,
});

const leaseOperations = ({ granted = [], revoked = [], ended = [], added = [] }: LeaseChange): FileOperation[] => [
  ...granted.map(({ id, ttlSeconds, expiresAtMs }) => put(leaseKey(id), `${ttlSeconds} ${Math.trunc(expiresAtMs)}`)),
  ...revoked.map((id) => remove(leaseKey(id))),
  ...ended.map(({ key, expiresAtMs }) => remove(expiryKey(key, expiresAtMs))),
  ...added.map(putExpiry),
];

const EMPTY = Buffer.alloc(0);

const keptKey = (revision: number): Buffer => Buffer.from(KEPT_CHANGES + String(revision).padStart(EXPIRY_DIGITS, '0'), 'latin1');

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
  /** Changes that are kept for the history, and since when. */
  keptChanges(): { kept: KeptRecord[]; keptSince: number | undefined };
  close(): Promise<void>;
}

/** Reads a store that this or another process may be writing meanwhile: LMDB's readers see the last change that is on disk, and hold up nobody. */
export function openSnapshot(folder: string): Snapshot {
  const database = openDatabaseSnapshot(folder);
  try {
    const format = checkFormat(database, folder);
    if (format === 0) throw new StorageUnavailable(`the store in ${folder} is empty`);
    const expiries = new Map<string, number>();
    for (const entry of database.range(allBehind(EXPIRIES))) {
      const expiry = expiryOf(entry);
      expiries.set(`${expiry.revision} ${expiry.key}`, expiry.expiresAtMs);
    }
    const countedRevision = readCountedRevision(database, format);
    return {
      revision: readRevision(database),
      count: database.count(allBehind(KEYS)),
      *items() {
        for (const entry of database.range(allBehind(KEYS))) {
          const key = entry.key.toString('utf8', KEYS.length);
          yield { ...storedOf(key, entry, countedRevision), expiresAtMs: expiries.get(`${entry.version} ${key}`) };
        }
      },
      keptChanges() {
        const since = textAt(database, KEPT_SINCE_KEY);
        return { kept: keptIn(database), keptSince: since === undefined ? undefined : Number(since) };
      },
      close: () => database.close(),
    };
  } catch (error) {
    void database.close();
    throw error;
  }
}

const keptIn = (database: Pick<DatabaseSnapshot, 'range'>): KeptRecord[] =>
  Array.from(database.range(allBehind(KEPT_CHANGES)), ({ key, value }) => ({ revision: Number(key.toString('latin1', 1)), value }));

type Readable = Pick<DatabaseSnapshot, 'get' | 'isEmpty'>;

const textAt = (database: Readable, key: Buffer): string | undefined => database.get(key)?.value.toString();

/** 0 for a file that nothing has been written to. */
function checkFormat(database: Readable, folder: string): number {
  const text = textAt(database, FORMAT_KEY);
  if (text === undefined) {
    if (!database.isEmpty) throw new StorageUnavailable(`the file in ${folder} is a database of another program's`);
    return 0;
  }
  if (!(Number(text) <= JOURNALED_FORMAT))
    throw new StorageUnavailable(`the store in ${folder} has format ${text}, and this version reads up to ${JOURNALED_FORMAT}; use a newer version`);
  return Number(text);
}

/** All entries of a file of format 1 are without a header, and none of a new one's. */
const readCountedRevision = (database: Readable, format: number): number =>
  format === 1 ? readRevision(database) : Number(textAt(database, COUNTED_KEY) ?? 0);

const readRevision = (database: Readable): number => Number(textAt(database, REVISION_KEY) ?? 0);

const storedBounds = ({ start, isStartExcluded, end }: KeyBounds): FileBounds => ({
  start: Buffer.from(KEYS + start),
  end: Buffer.from(end === undefined ? prefixEnd(KEYS)! : KEYS + end),
  exclusiveStart: isStartExcluded,
});

const allBehind = (letter: string): FileBounds => ({ start: Buffer.from(letter), end: Buffer.from(prefixEnd(letter)!) });

function entryOf({ revision, createdRevision = revision, version = 1 }: FileWrite, value: Buffer): Buffer {
  const entry = Buffer.allocUnsafe(ENTRY_HEADER_BYTES + value.length);
  entry.writeDoubleBE(createdRevision, 0);
  entry.writeUInt32BE(version, 8);
  value.copy(entry, ENTRY_HEADER_BYTES);
  return entry;
}

function storedOf(key: string, { value, version: revision }: FileEntry, countedRevision: number): Stored {
  // What an entry of format 1 was before is not known.
  if (revision <= countedRevision) return { key, value, revision, createdRevision: revision, version: 1 };
  return { key, value: value.subarray(ENTRY_HEADER_BYTES), revision, createdRevision: value.readDoubleBE(0), version: value.readUInt32BE(8) };
}

const expiryKey = (key: string, expiresAtMs: number): Buffer => Buffer.from(EXPIRIES + String(Math.trunc(expiresAtMs)).padStart(EXPIRY_DIGITS, '0') + key);
/** Numbers of leases are signed on the wire. */
const idDigits = (id: bigint): string => BigInt.asUintN(64, id).toString(16).padStart(16, '0');
const idOf = (digits: string): bigint => BigInt.asIntN(64, BigInt(`0x${digits}`));
const leaseKey = (id: bigint): Buffer => Buffer.from(LEASES + idDigits(id));

function expiryOf({ key, value, version: revision }: FileEntry): Expiry {
  const text = key.toString();
  const keyAt = EXPIRIES.length + EXPIRY_DIGITS;
  const expiry = { key: text.slice(keyAt), revision, expiresAtMs: Number(text.slice(EXPIRIES.length, keyAt)) };
  return value.length === 0 ? expiry : { ...expiry, leaseId: idOf(value.toString()) };
}

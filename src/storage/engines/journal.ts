import { closeSync, constants, openSync, readSync, statSync, write } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { FileOperation } from './file-operation.ts';

/*
 * The file beside LMDB's that makes a write durable by one sync where LMDB takes two: changes are appended to it, and LMDB is brought up to date later, with
 * many of them at once. It has its size from the beginning, so that an append changes nothing but content: the file system has nothing else to sync.
 *
 * It consists of two halves, which are filled by turns. A half is written over, from its start, when all that it holds is in LMDB. A record is
 *
 *     bytes of the rest after the checksum (uint32), CRC-32 of that rest (uint32), the journal's id (8 bytes), its number (float64), and its changes:
 *     bytes of the key (uint16), bytes of the value or REMOVED (uint32), version (float64), key, value
 *
 * Numbers count up by one for as long as the store exists; so what is left of an earlier turn of a half, behind its last record, is told from the record that
 * would come next.
 */

export const HALF_BYTES = 1024 * 1024;
const FILE_BYTES = 2 * HALF_BYTES;
const ID_BYTES = 8;
const PREFIX_BYTES = 8;
const HEAD_BYTES = PREFIX_BYTES + ID_BYTES + 8;
const CHANGE_HEAD_BYTES = 2 + 4 + 8;
const REMOVED = 0xffff_ffff;

/** Without it, an append would need a sync of its own. */
const canSyncWrites = process.platform === 'linux';

export interface JournalRecord {
  readonly number: number;
  readonly operations: readonly FileOperation[];
}

export class Journal {
  readonly id: Buffer;
  readonly #file: number;
  /** Which half is being filled, and up to where. It begins with one that counts as full: what that holds may not be in LMDB yet. */
  #half = 0;
  #usedBytes = HALF_BYTES;

  constructor(path: string, id: Buffer) {
    this.id = id;
    this.#file = openSync(path, constants.O_WRONLY | constants.O_DSYNC);
  }

  hasRoomFor(record: Buffer): boolean {
    return this.#usedBytes + record.length <= HALF_BYTES;
  }

  /** Goes on in the other half, of which nothing is needed any more. */
  turnOver(): void {
    this.#half = 1 - this.#half;
    this.#usedBytes = 0;
  }

  /** Resolves once it is on disk. One at a time. */
  async append(record: Buffer): Promise<void> {
    for (let done = 0; done < record.length;) {
      const position = this.#half * HALF_BYTES + this.#usedBytes + done;
      done += await new Promise<number>((resolve, reject) =>
        write(this.#file, record, done, record.length - done, position, (error, written) => (error ? reject(error) : resolve(written))),
      );
    }
    this.#usedBytes += record.length;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** A file of zeros, on disk under its name. False where the platform or the disk has none to give. */
export async function makeJournalFile(path: string): Promise<boolean> {
  if (!canSyncWrites) return false;
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'w', 0o600);
    await file.writeFile(Buffer.alloc(FILE_BYTES));
    await file.sync();
    const folder = await open(dirname(path), 'r');
    await folder.sync().finally(() => folder.close());
    return true;
  } catch {
    await rm(path, { force: true });
    return false;
  } finally {
    await file?.close();
  }
}

export function encodeRecord(id: Buffer, number: number, operations: readonly FileOperation[]): Buffer {
  const sizeBytes = operations.reduce((sum, { key, value }) => sum + CHANGE_HEAD_BYTES + key.length + (value?.length ?? 0), HEAD_BYTES);
  const record = Buffer.allocUnsafe(sizeBytes);
  record.writeUInt32LE(sizeBytes - PREFIX_BYTES, 0);
  id.copy(record, PREFIX_BYTES);
  record.writeDoubleLE(number, PREFIX_BYTES + ID_BYTES);
  let at = HEAD_BYTES;
  for (const { key, value, version } of operations) {
    record.writeUInt16LE(key.length, at);
    record.writeUInt32LE(value?.length ?? REMOVED, at + 2);
    record.writeDoubleLE(version, at + 6);
    at += CHANGE_HEAD_BYTES;
    at += key.copy(record, at);
    if (value !== undefined) at += value.copy(record, at);
  }
  record.writeUInt32LE(crc32(record.subarray(PREFIX_BYTES)), 4);
  return record;
}

export const isJournalFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.size === FILE_BYTES;

/** The records of the journal with this id that came after number `after`, in order; undefined where the first of them is not there. */
export function readJournal(path: string, id: Buffer, after: number): JournalRecord[] | undefined {
  if (!isJournalFile(path)) return [];
  const content = readFileBytes(path);
  const halves = [readHalf(content.subarray(0, HALF_BYTES), id), readHalf(content.subarray(HALF_BYTES), id)];
  const records = halves
    .flat()
    .filter(({ number }) => number > after)
    .toSorted((a, b) => a.number - b.number);
  return records.every(({ number }, index) => number === after + 1 + index) ? records : undefined;
}

function readFileBytes(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const content = Buffer.alloc(FILE_BYTES);
    readSync(file, content, 0, FILE_BYTES, 0);
    return content;
  } finally {
    closeSync(file);
  }
}

/** Up to what is no record, or not the next one. */
function readHalf(half: Buffer, id: Buffer): JournalRecord[] {
  const records: JournalRecord[] = [];
  for (let at = 0; at + HEAD_BYTES <= half.length;) {
    const end = at + PREFIX_BYTES + half.readUInt32LE(at);
    if (end < at + HEAD_BYTES || end > half.length) break;
    const rest = half.subarray(at + PREFIX_BYTES, end);
    if (!rest.subarray(0, ID_BYTES).equals(id) || crc32(rest) !== half.readUInt32LE(at + 4)) break;
    const number = rest.readDoubleLE(ID_BYTES);
    const last = records.at(-1);
    if (last && number !== last.number + 1) break;
    records.push({ number, operations: decodeOperations(rest.subarray(ID_BYTES + 8)) });
    at = end;
  }
  return records;
}

/** The checksum has been compared: these are bytes that `encodeRecord` wrote. */
function decodeOperations(bytes: Buffer): FileOperation[] {
  const operations: FileOperation[] = [];
  for (let at = 0; at < bytes.length;) {
    const keyEnd = at + CHANGE_HEAD_BYTES + bytes.readUInt16LE(at);
    const valueBytes = bytes.readUInt32LE(at + 2);
    const key = bytes.subarray(at + CHANGE_HEAD_BYTES, keyEnd);
    const version = bytes.readDoubleLE(at + 6);
    at = valueBytes === REMOVED ? keyEnd : keyEnd + valueBytes;
    operations.push({ key, version, value: valueBytes === REMOVED ? undefined : bytes.subarray(keyEnd, at) });
  }
  return operations;
}

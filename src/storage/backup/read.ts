import { type Hash, createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { StorageUnavailable } from '../engine.ts';
import { MAX_KEY_BYTES } from '../engines/lmdb-file.ts';
import { type BackupHead, type BackupObject, DIGEST_BYTES, FORMAT, HEAD_BYTES, MAGIC, MAX_VALUE_BYTES, OBJECT_HEAD_BYTES } from './format.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Reads a backup from its start to its end. What is wrong with it is a StorageUnavailable; it is known to be whole when `objects` has ended. */
export class BackupReader {
  readonly head: BackupHead;
  readonly #path: string;
  readonly #file: number;
  readonly #hash: Hash = createHash('sha256');
  #chunk = Buffer.alloc(0);
  #at = 0;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'r');
    } catch (error) {
      throw new StorageUnavailable(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (error as Error).message}`);
    }
    try {
      this.head = this.#readHead();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  *objects(): Generator<BackupObject> {
    let count = 0;
    for (let keyLength = this.#take(4).readUInt32BE(); keyLength !== 0; keyLength = this.#take(4).readUInt32BE()) {
      if (keyLength > MAX_KEY_BYTES) throw this.#broken();
      yield this.#readObject(keyLength);
      count++;
    }
    const digest = this.#hash.digest();
    if (!digest.equals(this.#read(DIGEST_BYTES)) || count !== this.head.count) throw this.#broken();
  }

  #readHead(): BackupHead {
    if (!this.#read(MAGIC.length, false).equals(MAGIC)) throw new StorageUnavailable(`${this.#path} is not a backup of Binnacle's`);
    this.#hash.update(MAGIC);
    const rest = this.#take(HEAD_BYTES - MAGIC.length);
    const format = rest.readUInt32BE();
    if (format > FORMAT)
      throw new StorageUnavailable(`the backup ${this.#path} has format ${format}, and this version reads up to ${FORMAT}; use a newer version`);
    return { revision: Number(rest.readBigUInt64BE(4)), count: Number(rest.readBigUInt64BE(12)) };
  }

  #readObject(keyLength: number): BackupObject {
    const rest = this.#take(OBJECT_HEAD_BYTES - 4);
    const valueLength = rest.readUInt32BE();
    if (valueLength > MAX_VALUE_BYTES) throw this.#broken();
    const revision = Number(rest.readBigUInt64BE(4));
    const expiresAtMs = Number(rest.readBigUInt64BE(12)) || undefined;
    const key = this.#take(keyLength).toString('utf8');
    return { key, revision, expiresAtMs, value: Buffer.from(this.#take(valueLength)) };
  }

  /** The next bytes, which are part of what the digest is of. */
  #take(length: number): Buffer {
    const bytes = this.#read(length);
    this.#hash.update(bytes);
    return bytes;
  }

  #read(length: number, isCertain = true): Buffer {
    while (this.#chunk.length - this.#at < length) {
      const more = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, length));
      const read = readSync(this.#file, more, 0, more.length, null);
      if (read === 0 && isCertain) throw this.#broken();
      if (read === 0) break;
      this.#chunk = Buffer.concat([this.#chunk.subarray(this.#at), more.subarray(0, read)]);
      this.#at = 0;
    }
    this.#at += length;
    return this.#chunk.subarray(this.#at - length, this.#at);
  }

  #broken(): StorageUnavailable {
    return new StorageUnavailable(`the backup ${this.#path} is damaged or was cut off; nothing was restored`);
  }
}

import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageUnavailable } from '../engine.ts';
import { openSnapshot } from '../engines/lmdb-file.ts';
import { encodeHead, encodeObjectHead } from './format.ts';
import type { OnProgress } from './progress.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes the store in `folder` to `file`, as it was at one moment, while a server may go on writing to it. The file appears under its name when it is whole
 * and on disk, in the place of an older one.
 */
export async function writeBackup(folder: string, file: string, onProgress: OnProgress): Promise<{ count: number; revision: number }> {
  const snapshot = openSnapshot(folder);
  const draft = `${file}.${process.pid}.part`;
  try {
    const output = await open(draft, 'wx', 0o600).catch((error: Error) => {
      throw new StorageUnavailable(`cannot write ${draft}: ${error.message}`);
    });
    try {
      const writer = new HashingWriter(output);
      await writer.add(encodeHead(snapshot));
      let done = 0;
      for (const item of snapshot.items()) {
        await writer.add(encodeObjectHead(item));
        await writer.add(item.value);
        onProgress(++done, snapshot.count);
      }
      await writer.finish();
      await output.sync();
    } finally {
      await output.close();
    }
    await rename(draft, file);
    await syncFolder(dirname(file));
    return { count: snapshot.count, revision: snapshot.revision };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await snapshot.close();
  }
}

/** Writes large pieces, and knows the digest of all of them. */
class HashingWriter {
  readonly #output: FileHandle;
  readonly #hash = createHash('sha256');
  #pieces: Buffer[] = [];
  #sizeBytes = 0;

  constructor(output: FileHandle) {
    this.#output = output;
  }

  async add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    this.#pieces.push(bytes);
    this.#sizeBytes += bytes.length;
    if (this.#sizeBytes >= CHUNK_BYTES) await this.#flush();
  }

  async finish(): Promise<void> {
    await this.add(Buffer.alloc(4));
    this.#pieces.push(this.#hash.digest());
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#sizeBytes = 0;
    for (let at = 0; at < bytes.length;) at += (await this.#output.write(bytes, at)).bytesWritten;
  }
}

/** A new name is on disk when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StorageUnavailable } from '../engine.ts';
import { LmdbSnapshot } from '../engines/lmdb-database.ts';
import { type Snapshot, openSnapshot } from '../engines/lmdb-file.ts';
import { type BackupObject, HISTORY_PREFIX, KEPT_PREFIX, SINCE_PREFIX, encodeHead, encodeObjectHead } from './format.ts';
import type { OnProgress } from './progress.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes the store in `folder` to `file`, as it was at one moment, while a server may go on writing to it. The file appears under its name when it is whole
 * and on disk, in the place of an older one. `historyFolder`: of the history that is to be in it too.
 */
export async function writeBackup(folder: string, file: string, onProgress: OnProgress, historyFolder?: string): Promise<{ count: number; revision: number }> {
  const { snapshot, history } = historyFolder === undefined ? { snapshot: openSnapshot(folder), history: undefined } : openWithHistory(folder, historyFolder);
  const draft = `${file}.${process.pid}.part`;
  try {
    const output = await open(draft, 'wx', 0o600).catch((error: Error) => {
      throw new StorageUnavailable(`cannot write ${draft}: ${error.message}`);
    });
    try {
      const writer = new HashingWriter(output);
      const past = history ? [...pastOf(snapshot, history)] : [];
      const count = snapshot.count + past.length;
      await writer.add(encodeHead({ revision: snapshot.revision, count, hasHistory: history !== undefined }));
      let done = 0;
      for (const items of [snapshot.items(), past])
        for (const item of items) {
          await writer.add(encodeObjectHead(item));
          await writer.add(item.value);
          onProgress(++done, count);
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
    await history?.close();
  }
}

const SNAPSHOT_ATTEMPTS = 100;
/** In the history's file: up to where it knows everything. */
const HISTORY_META_KEY = Buffer.from('mhistory');

/** Both so that nothing is missing between them: what the history has not written down is kept beside the objects until it has. */
function openWithHistory(folder: string, historyFolder: string): { snapshot: Snapshot; history: LmdbSnapshot } {
  for (let attempt = 1; ; attempt++) {
    const history = new LmdbSnapshot(historyFolder);
    const snapshot = openSnapshot(folder);
    const later = new LmdbSnapshot(historyFolder);
    const [before, after] = [history, later].map((each) => each.get(HISTORY_META_KEY)?.value);
    void later.close();
    if (before && after?.equals(before)) return { snapshot, history };
    void snapshot.close();
    void history.close();
    if (attempt === SNAPSHOT_ATTEMPTS) throw new StorageUnavailable(`cannot read the history in ${historyFolder}: it is written to all the time`);
  }
}

const EVERYTHING = { start: Buffer.from([0]), end: Buffer.from([0xff]) };

function* pastOf(snapshot: Snapshot, history: LmdbSnapshot): Generator<BackupObject> {
  const { kept, keptSince } = snapshot.keptChanges();
  const entry = (key: string, value: Buffer): BackupObject => ({ key, value, revision: 0, expiresAtMs: undefined });
  if (keptSince !== undefined) yield entry(`${SINCE_PREFIX}${keptSince}`, Buffer.alloc(0));
  for (const { revision, value } of kept) yield entry(`${KEPT_PREFIX}${revision}`, value);
  for (const { key, value } of history.range(EVERYTHING)) yield entry(HISTORY_PREFIX + key.toString('latin1'), value);
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

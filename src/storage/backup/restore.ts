import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StorageUnavailable } from '../engine.ts';
import { type FolderLock, lockFolder } from '../engines/folder-lock.ts';
import { JOURNAL_FILE } from '../engines/journaled-database.ts';
import type { FileOperation } from '../engines/file-operation.ts';
import { LmdbDatabase } from '../engines/lmdb-database.ts';
import { type KeptRecord, LmdbFile } from '../engines/lmdb-file.ts';
import { FIRST_REVISION } from '../engines/memory.ts';
import { type BackupObject, HISTORY_PREFIX, KEPT_PREFIX, SINCE_PREFIX } from './format.ts';
import type { OnProgress } from './progress.ts';
import { BackupReader } from './read.ts';
import { syncFolder } from './write.ts';

/**
 * How far beyond the backup's a restored store begins to count. Clients may have seen versions that the lost store gave out after the backup; none of those
 * must ever mean something else. Watches from such a version are answered with 410, and the clients list anew. (etcdutl's --bump-revision, as etcd advises.)
 */
const REVISION_STEP = 1_000_000_000;

const DRAFT_SUFFIX = '.restoring-';
const OBJECTS_A_BATCH = 1_000;
const BYTES_A_BATCH = 8 * 1024 * 1024;

interface RestoreOptions {
  file: string;
  /** The store's folder, which takes the backup's content when all of it has been read and found whole. */
  folder: string;
  /** That of the history, which takes what the backup has of it; what was there goes. */
  historyFolder: string;
  /** Replaces a store that is there. */
  force: boolean;
  onProgress: OnProgress;
}

/** Throws StorageUnavailable when the folder is in use or holds something, or the backup is not whole; then everything is as it was. */
export async function restoreBackup({ file, folder, historyFolder, force, onProgress }: RestoreOptions): Promise<{ count: number; revision: number }> {
  const reader = new BackupReader(file);
  let lock: FolderLock | undefined;
  let draft: string | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = await lockFolder(folder);
    if (!force && (await readdir(folder)).length > 0)
      throw new StorageUnavailable(`there is a store in ${folder} already: choose another --data-dir, or replace it with --force`);
    await removeDrafts(folder);
    draft = await mkdtemp(`${folder}${DRAFT_SUFFIX}`);
    const draftHistory = join(draft, 'history');
    const { revision, past } = await fill(draft, draftHistory, reader, onProgress);
    // Of the store that is replaced: it must not be taken for the new one's.
    await rm(historyFolder, { recursive: true, force: true });
    await rm(join(folder, 'lock.mdb'), { force: true });
    // One step: whatever ends this process, the store is the old one or the new one.
    await rename(join(draft, 'data.mdb'), join(folder, 'data.mdb'));
    // Of the store that was replaced; it would not be taken for the new one's.
    await rm(join(folder, JOURNAL_FILE), { force: true });
    await syncFolder(folder);
    if (past > 0) await rename(draftHistory, historyFolder);
    return { count: reader.head.count - past, revision };
  } finally {
    reader.close();
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
    await lock?.release();
  }
}

/** What a restore left that was killed; whoever holds the folder is the only one. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith(`${basename(folder)}${DRAFT_SUFFIX}`)) await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/** Objects go to one file, and the history to another. `past`: how many entries were not objects. */
async function fill(folder: string, historyFolder: string, reader: BackupReader, onProgress: OnProgress): Promise<{ revision: number; past: number }> {
  const file = new LmdbFile(folder, FIRST_REVISION, { isJournaled: false });
  const revision = reader.head.revision + REVISION_STEP;
  const history = new HistoryFile(historyFolder);
  try {
    let writes: BackupObject[] = [];
    let kept: KeptRecord[] = [];
    let sizeBytes = 0;
    let done = 0;
    let past = 0;
    const flush = async (): Promise<void> => {
      await file.write({ writes, kept, revision });
      await history.flush();
      onProgress(done, reader.head.count);
      [writes, kept, sizeBytes] = [[], [], 0];
    };
    for (const object of reader.objects()) {
      const { key, value } = object;
      done++;
      sizeBytes += value.length;
      if (!key.startsWith('\u0001')) writes.push(object);
      else {
        past++;
        if (key.startsWith(HISTORY_PREFIX)) await history.add(key.slice(HISTORY_PREFIX.length), value);
        else if (key.startsWith(KEPT_PREFIX)) kept.push({ revision: Number(key.slice(KEPT_PREFIX.length)), value });
        else if (key.startsWith(SINCE_PREFIX)) await file.write({ writes: [], keptSince: Number(key.slice(SINCE_PREFIX.length)), revision });
      }
      if (done % OBJECTS_A_BATCH === 0 || sizeBytes >= BYTES_A_BATCH) await flush();
    }
    await flush();
    return { revision, past };
  } finally {
    await file.close();
    await history.close();
  }
}

/** The file of a history, made when something is to be put into it. */
class HistoryFile {
  readonly #folder: string;
  #database: LmdbDatabase | undefined;
  #operations: FileOperation[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  async add(key: string, value: Buffer): Promise<void> {
    if (!this.#database) {
      await mkdir(this.#folder, { mode: 0o700 });
      this.#database = new LmdbDatabase(this.#folder);
    }
    this.#operations.push({ key: Buffer.from(key, 'latin1'), value, version: 0 });
  }

  async flush(): Promise<void> {
    if (this.#operations.length > 0) await this.#database!.write(this.#operations);
    this.#operations = [];
  }

  async close(): Promise<void> {
    await this.#database?.close();
  }
}

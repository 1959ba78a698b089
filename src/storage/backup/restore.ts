import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StorageUnavailable } from '../engine.ts';
import { type FolderLock, lockFolder } from '../engines/folder-lock.ts';
import { JOURNAL_FILE } from '../engines/journaled-database.ts';
import { LmdbFile } from '../engines/lmdb-file.ts';
import { FIRST_REVISION } from '../engines/memory.ts';
import type { BackupObject } from './format.ts';
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
  /** Replaces a store that is there. */
  force: boolean;
  onProgress: OnProgress;
}

/** Throws StorageUnavailable when the folder is in use or holds something, or the backup is not whole; then everything is as it was. */
export async function restoreBackup({ file, folder, force, onProgress }: RestoreOptions): Promise<{ count: number; revision: number }> {
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
    const revision = await fill(draft, reader, onProgress);
    await rm(join(folder, 'lock.mdb'), { force: true });
    // One step: whatever ends this process, the store is the old one or the new one.
    await rename(join(draft, 'data.mdb'), join(folder, 'data.mdb'));
    // Of the store that was replaced; it would not be taken for the new one's.
    await rm(join(folder, JOURNAL_FILE), { force: true });
    await syncFolder(folder);
    return { count: reader.head.count, revision };
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

async function fill(folder: string, reader: BackupReader, onProgress: OnProgress): Promise<number> {
  const file = new LmdbFile(folder, FIRST_REVISION, { isJournaled: false });
  const revision = reader.head.revision + REVISION_STEP;
  try {
    let writes: BackupObject[] = [];
    let sizeBytes = 0;
    let done = 0;
    const flush = async (): Promise<void> => {
      await file.write({ writes, revision });
      done += writes.length;
      onProgress(done, reader.head.count);
      writes = [];
      sizeBytes = 0;
    };
    for (const object of reader.objects()) {
      writes.push(object);
      sizeBytes += object.value.length;
      if (writes.length >= OBJECTS_A_BATCH || sizeBytes >= BYTES_A_BATCH) await flush();
    }
    await flush();
  } finally {
    await file.close();
  }
  return revision;
}

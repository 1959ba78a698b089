import { mkdirSync } from 'node:fs';
import { StorageUnavailable } from '../../storage/engine.ts';
import type { FileBounds, FileOperation } from '../../storage/engines/file-operation.ts';
import { type FolderLock, lockFolder } from '../../storage/engines/folder-lock.ts';
import { LmdbDatabase } from '../../storage/engines/lmdb-database.ts';
import type { BlockName, HistoryDatabase, HistoryMeta, HistoryWrite, StoredHistory } from './history-database.ts';

/*
 * The file has a block behind its name, `b000000000012`, what is in it behind `d` and that name, the keys of objects behind `o` and their numbers, and `mhistory`.
 */
const META_KEY = Buffer.from('mhistory');
const DIRECTORIES = 'd';
const OBJECTS = 'o';
const OBJECT_DIGITS = 12;

/** A file of LMDB's own, so that what is written here holds up no write of an object. */
export class LmdbHistoryDatabase implements HistoryDatabase {
  readonly isLasting = true;
  readonly #database: LmdbDatabase;
  readonly #lock: FolderLock;

  private constructor(database: LmdbDatabase, lock: FolderLock) {
    this.#database = database;
    this.#lock = lock;
  }

  /** Makes the folder. Throws StorageUnavailable with one line that tells why not. */
  static async open(folder: string): Promise<LmdbHistoryDatabase> {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new StorageUnavailable(`cannot make the folder ${folder}: ${(error as Error).message}`);
    }
    const lock = await lockFolder(folder);
    try {
      return new LmdbHistoryDatabase(new LmdbDatabase(folder), lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  async load(): Promise<StoredHistory> {
    const meta = this.#database.get(META_KEY);
    return {
      meta: meta && (JSON.parse(meta.value.toString()) as HistoryMeta),
      directories: Array.from(this.#database.range(allBehind(DIRECTORIES)), ({ key, value }) => ({
        name: key.toString('latin1', 1) as BlockName,
        directory: value,
      })),
      objects: Array.from(this.#database.range(allBehind(OBJECTS)), ({ key, value }) => ({ id: Number(key.toString('latin1', 1)), key: value.toString() })),
    };
  }

  readBlock(name: BlockName): Buffer | undefined {
    return this.#database.get(Buffer.from(name))?.value;
  }

  async write({ meta, blocks, removedBlocks = [], objects, removedObjects = [] }: HistoryWrite): Promise<void> {
    const operations: FileOperation[] = [];
    for (const name of removedBlocks) operations.push(operation(name, undefined), operation(DIRECTORIES + name, undefined));
    for (const id of removedObjects) operations.push(operation(objectKey(id), undefined));
    for (const { name, directory, block } of blocks) operations.push(operation(name, block), operation(DIRECTORIES + name, directory));
    for (const { id, key } of objects) operations.push(operation(objectKey(id), Buffer.from(key)));
    operations.push({ key: META_KEY, value: Buffer.from(JSON.stringify(meta)), version: 0 });
    await this.#database.write(operations);
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.#lock.release();
  }
}

const operation = (key: string, value: Buffer | undefined): FileOperation => ({ key: Buffer.from(key), value, version: 0 });

const objectKey = (id: number): string => OBJECTS + String(id).padStart(OBJECT_DIGITS, '0');

/** All letters are followed by digits or letters. */
const allBehind = (letter: string): FileBounds => ({ start: Buffer.from(letter), end: Buffer.from(`${letter}~`) });

/** Where the blocks of a history are kept. All that is given to one `write` is there after a crash, or nothing of it. */
export interface HistoryDatabase {
  /** What was there when it was opened. */
  load(): Promise<StoredHistory>;
  readBlock(name: BlockName): Buffer | undefined;
  /** One at a time. */
  write(change: HistoryWrite): Promise<void>;
  /** Of a memory: what is not full need not be written, since nothing outlives the process. */
  readonly isLasting: boolean;
  close(): Promise<void>;
}

/** `b` for blocks of changes, `f` for what objects were before the oldest of them; and their numbers. */
export type BlockName = `${'b' | 'f'}${string}`;

export const blockName = (letter: 'b' | 'f', id: number): BlockName => `${letter}${String(id).padStart(12, '0')}`;

export interface StoredHistory {
  meta: HistoryMeta | undefined;
  /** Each with what it holds, in order. */
  directories: { name: BlockName; directory: Buffer }[];
  /** The keys of objects. */
  objects: { id: number; key: string }[];
}

export interface HistoryMeta {
  /** Of the layout. */
  format: 1;
  /** From where on everything is known. */
  startRevision: number;
  startTimeMs: number;
  /** Up to where everything was recorded. */
  revision: number;
  timeMs: number;
  nextObjectId: number;
}

export interface HistoryWrite {
  meta: HistoryMeta;
  blocks: readonly { name: BlockName; directory: Buffer; block: Buffer }[];
  removedBlocks?: readonly BlockName[];
  objects: readonly { id: number; key: string }[];
  removedObjects?: readonly number[];
}

/** Keeps nothing beyond the process. */
export class MemoryHistoryDatabase implements HistoryDatabase {
  readonly isLasting = false;
  readonly #blocks = new Map<BlockName, Buffer>();

  async load(): Promise<StoredHistory> {
    return { meta: undefined, directories: [], objects: [] };
  }

  readBlock(name: BlockName): Buffer | undefined {
    return this.#blocks.get(name);
  }

  async write({ blocks, removedBlocks = [] }: HistoryWrite): Promise<void> {
    for (const { name, block } of blocks) this.#blocks.set(name, block);
    for (const name of removedBlocks) this.#blocks.delete(name);
  }

  async close(): Promise<void> {
    this.#blocks.clear();
  }
}

import { type BlockName, type HistoryDatabase, type HistoryMeta, type HistoryWrite, type StoredHistory, blockName } from './history-database.ts';
import { FloorBlocks, type FloorPlan } from './floor-blocks.ts';
import { type BlockSpan, type FloorPlace, HistoryIndex, type ObjectHistory, encodeDirectory } from './history-index.ts';
import { type ChangeRecord, decodeBlock, encodeBlock, recordBytes } from './record-block.ts';

/** A block is full when its records have so many bytes. Larger ones take longer to read one version from, smaller ones compress less. */
const BLOCK_BYTES = 64 * 1024;
/** Decoded blocks that were read lately: about as many bytes as their records have, and as much again for what V8 makes of them. */
const CACHED_BLOCKS = 64;

/** The records of a history, in blocks: those in memory that are not written yet, and those in the database. */
export class HistoryBlocks {
  readonly index = new HistoryIndex();
  readonly #floors = new FloorBlocks(this.index);
  readonly #database: HistoryDatabase;
  /** Blocks whose newest records are not written, oldest first; the last one is being filled. */
  readonly #unwritten = new Map<BlockSpan, ChangeRecord[]>();
  #openSpan: BlockSpan | undefined;
  #openBytes = 0;
  /** Objects that the database does not know yet. */
  #newObjects: { id: number; key: string }[] = [];
  readonly #decoded = new Map<BlockName, readonly ChangeRecord[]>();

  constructor(database: HistoryDatabase) {
    this.#database = database;
  }

  /** What was stored. */
  load({ directories, objects }: Pick<StoredHistory, 'directories' | 'objects'>, nextObjectId: number): void {
    this.index.nextObjectId = nextObjectId;
    const isFloor = (name: BlockName): boolean => name.startsWith('f');
    this.index.load(
      directories.filter(({ name }) => !isFloor(name)).map(({ directory }) => directory),
      objects,
    );
    for (const { name, directory } of directories) if (isFloor(name)) this.#floors.load(name, directory);
  }

  /** Forgets everything, and answers what it was. */
  clear(): { blocks: BlockName[]; objects: number[] } {
    const blocks = [...this.index.spans.map(({ id }) => blockName('b', id)), ...this.#floors.clear()];
    const objects = this.index.clear();
    this.#unwritten.clear();
    this.#openSpan = undefined;
    this.#newObjects = [];
    this.#decoded.clear();
    return { blocks, objects };
  }

  /** Of all that is written. */
  get sizeBytes(): number {
    let sum = this.#floors.sizeBytes;
    for (const { sizeBytes } of this.index.spans) sum += sizeBytes;
    return sum;
  }

  /** Answers the record's number. */
  append(record: ChangeRecord): number {
    const { index } = this;
    const seq = index.nextSeq;
    if (!this.#openSpan || this.#openBytes >= BLOCK_BYTES) this.#open(index.addSpan(seq, record));
    const span = this.#openSpan!;
    this.#unwritten.get(span)!.push(record);
    this.#openBytes += recordBytes(record);
    span.count++;
    span.lastRevision = record.revision;
    span.lastTimeMs = record.timeMs;
    const object = index.byId(record.objectId)!;
    object.refs.push(seq * 2 + (record.isWhole ? 1 : 0));
    return seq;
  }

  addObject(key: string): ObjectHistory {
    const object = this.index.add(key);
    this.#newObjects.push({ id: object.id, key });
    return object;
  }

  #open(span: BlockSpan): void {
    this.#openSpan = span;
    this.#openBytes = 0;
    this.#unwritten.set(span, []);
  }

  /** Full blocks that are not written. */
  get fullCount(): number {
    return Math.max(0, this.#unwritten.size - 1);
  }

  isWritten(span: BlockSpan): boolean {
    return !this.#unwritten.has(span);
  }

  recordAt(seq: number): ChangeRecord {
    const span = this.index.spanOf(seq);
    if (!span) throw new RangeError(`record ${seq} is not kept`);
    return this.recordsOf(span)[seq - span.firstSeq]!;
  }

  recordsOf(span: BlockSpan): readonly ChangeRecord[] {
    return this.#unwritten.get(span) ?? this.#read(blockName('b', span.id));
  }

  floorAt({ block, index }: FloorPlace): ChangeRecord {
    return this.#read(blockName('f', block))[index]!;
  }

  planFloors(floors: readonly ChangeRecord[], superseded: readonly ObjectHistory[]): Promise<FloorPlan> {
    return this.#floors.plan(floors, superseded, (place) => this.floorAt(place));
  }

  #read(name: BlockName): readonly ChangeRecord[] {
    const known = this.#decoded.get(name);
    if (known) {
      // The least recently read goes first.
      this.#decoded.delete(name);
      this.#decoded.set(name, known);
      return known;
    }
    const block = this.#database.readBlock(name);
    if (!block) throw new Error(`block ${name} of the history is not there`);
    const records = decodeBlock(block);
    this.#decoded.set(name, records);
    if (this.#decoded.size > CACHED_BLOCKS) this.#decoded.delete(this.#decoded.keys().next().value!);
    return records;
  }

  forget(names: readonly BlockName[]): void {
    for (const name of names) this.#decoded.delete(name);
  }

  /** What is to be written so that nothing up to now is missing; and what then has been. */
  async unwritten(meta: HistoryMeta): Promise<{ change: HistoryWrite; written: () => void }> {
    const taken = [...this.#unwritten].filter(([span, records]) => records.length > 0 && (this.#database.isLasting || span !== this.#openSpan));
    const objects = this.#newObjects;
    this.#newObjects = [];
    const blocks = await Promise.all(taken.map(([span, records]) => encodeSpan(span, records.slice())));
    return {
      change: { meta, blocks: blocks.map(({ name, directory, block }) => ({ name, directory, block })), objects },
      written: () => {
        for (const { span, block, count } of blocks) {
          span.sizeBytes = block.length;
          if (span !== this.#openSpan || this.#openBytes >= BLOCK_BYTES) this.#settle(span, count);
        }
      },
    };
  }

  /** All of its records are written. */
  #settle(span: BlockSpan, count: number): void {
    if (count < span.count) return;
    this.#unwritten.delete(span);
    if (this.#openSpan === span) this.#openSpan = undefined;
    this.forget([blockName('b', span.id)]);
  }
}

async function encodeSpan(
  span: BlockSpan,
  records: readonly ChangeRecord[],
): Promise<{ span: BlockSpan; name: BlockName; directory: Buffer; block: Buffer; count: number }> {
  const block = await encodeBlock(records);
  return { span, name: blockName('b', span.id), directory: encodeDirectory({ ...span, sizeBytes: block.length }, records), block, count: records.length };
}

import { ByteWriter } from '../../encoding/bytes.ts';
import { type BlockName, type HistoryDatabase, type HistoryMeta, type HistoryWrite, type StoredHistory, blockName } from './history-database.ts';
import { FloorBlocks, type FloorPlan } from './floor-blocks.ts';
import { type BlockSpan, type FloorPlace, HistoryIndex, type ObjectHistory, encodeDirectory } from './history-index.ts';
import { BlockBuilder, type ChangeRecord, type NewRecord, compressBlock, decodeBlock, decodeText } from './record-block.ts';

/** A block is full when its records have so many bytes. Larger ones take longer to read one version from, smaller ones compress less. */
const BLOCK_BYTES = 64 * 1024;
/** Decoded blocks that were read lately: about as many bytes as their records have, and as much again for what V8 makes of them. */
const CACHED_BLOCKS = 64;

/** A record is asked for that pruning has taken away, or is taking away now. */
export class RecordsPruned extends Error {}

/** The records of a history, in blocks: those in memory that are not written yet, and those in the database. */
export class HistoryBlocks {
  readonly index = new HistoryIndex();
  readonly #floors = new FloorBlocks(this.index);
  readonly #database: HistoryDatabase;
  /** Blocks whose newest records are not written, oldest first; the last one is being filled. */
  readonly #unwritten = new Map<BlockSpan, OpenBlock>();
  #openSpan: BlockSpan | undefined;
  #openBlock: OpenBlock | undefined;
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
    this.#openBlock = undefined;
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

  append(object: ObjectHistory, record: NewRecord): void {
    const { index } = this;
    const seq = index.nextSeq;
    if (!this.#openBlock || this.#openBlock.isFull) this.#open(index.addSpan(seq, record));
    this.#openBlock!.append(record);
    const span = this.#openSpan!;
    span.count++;
    span.lastRevision = record.revision;
    span.lastTimeMs = record.timeMs;
    object.refs.push(seq * 2 + (record.isWhole ? 1 : 0));
  }

  addObject(key: string): ObjectHistory {
    const object = this.index.add(key);
    this.#newObjects.push({ id: object.id, key });
    return object;
  }

  #open(span: BlockSpan): void {
    this.#openSpan = span;
    this.#openBlock = new OpenBlock();
    this.#unwritten.set(span, this.#openBlock);
  }

  /** Full blocks that are not written. */
  get fullCount(): number {
    return Math.max(0, this.#unwritten.size - 1);
  }

  isWritten(span: BlockSpan): boolean {
    return !this.#unwritten.has(span);
  }

  recordAt(seq: number): ChangeRecord {
    const { firstSeq, records } = this.blockOf(seq);
    return records[seq - firstSeq]!;
  }

  /** The block that a record is in. */
  blockOf(seq: number): { firstSeq: number; records: readonly ChangeRecord[] } {
    const span = this.index.spanOf(seq);
    if (!span) throw new RecordsPruned(`record ${seq} is not kept`);
    return { firstSeq: span.firstSeq, records: this.recordsOf(span) };
  }

  recordsOf(span: BlockSpan): readonly ChangeRecord[] {
    return this.#unwritten.get(span)?.records ?? this.#read(blockName('b', span.id));
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
    if (!block) throw new RecordsPruned(`block ${name} of the history is not there`);
    const records = decodeBlock(block);
    this.#decoded.set(name, records);
    if (this.#decoded.size > CACHED_BLOCKS) this.#decoded.delete(this.#decoded.keys().next().value!);
    return records;
  }

  forget(names: readonly BlockName[]): void {
    for (const name of names) this.#decoded.delete(name);
  }

  /** What is to be written, and what is then to be called: all that is full, and the rest too where that is asked for. `meta`: of everything. Undefined: nothing. */
  async unwritten(meta: HistoryMeta, includesOpen: boolean): Promise<{ change: HistoryWrite; written: () => void } | undefined> {
    const includesAll = includesOpen && this.#database.isLasting;
    const changed = [...this.#unwritten].filter(([, block]) => block.isChanged);
    const taken = includesAll ? changed : changed.filter(([, { isFull }]) => isFull);
    const [lastSpan, lastBlock] = taken.at(-1) ?? [];
    if (!lastSpan) return undefined;
    // The change behind an initial record has the same revision, and is in the next block.
    const upTo = { revision: lastSpan.lastRevision - (lastBlock!.endsInitial ? 1 : 0), timeMs: lastSpan.lastTimeMs };
    const objects = [...this.#newObjects];
    const blocks = await Promise.all(taken.map(([span, block]) => encodeSpan(span, block)));
    return {
      change: {
        meta: taken.length === changed.length ? meta : { ...meta, ...upTo },
        blocks: blocks.map(({ name, directory, block }) => ({ name, directory, block })),
        objects,
      },
      written: () => {
        this.#newObjects.splice(0, objects.length);
        for (const { span, block, count } of blocks) {
          span.sizeBytes = block.length;
          this.#settle(span, count);
        }
      },
    };
  }

  /** So many of its records are written. */
  #settle(span: BlockSpan, count: number): void {
    const block = this.#unwritten.get(span);
    if (!block) return;
    block.writtenCount = count;
    this.forget([blockName('b', span.id)]);
    if (block.isChanged || !block.isFull) return;
    this.#unwritten.delete(span);
    if (this.#openSpan === span) {
      this.#openSpan = undefined;
      this.#openBlock = undefined;
    }
  }
}

/** A block of which not everything is written, or which is not full. */
class OpenBlock {
  readonly #builder = new BlockBuilder();
  /** For the index: objects' numbers twice, and one more for a whole version. */
  readonly #refs = new ByteWriter(1024);
  #decoded: readonly ChangeRecord[] | undefined;
  writtenCount = 0;
  endsInitial = false;

  get isFull(): boolean {
    return this.#builder.sizeBytes >= BLOCK_BYTES;
  }

  get isChanged(): boolean {
    return this.#builder.count > this.writtenCount;
  }

  get count(): number {
    return this.#builder.count;
  }

  append(record: NewRecord): void {
    this.#builder.append(record);
    this.endsInitial = record.type === 'initial';
    this.#refs.varint(record.objectId * 2 + (record.isWhole ? 1 : 0));
    this.#decoded = undefined;
  }

  /** Decoded anew after each that was added: who reads much waits until there is nothing to add. */
  get records(): readonly ChangeRecord[] {
    return (this.#decoded ??= decodeText(this.#builder.text));
  }

  get text(): Buffer {
    return this.#builder.text;
  }

  get refs(): Buffer {
    return this.#refs.written;
  }
}

async function encodeSpan(span: BlockSpan, open: OpenBlock): Promise<{ span: BlockSpan; name: BlockName; directory: Buffer; block: Buffer; count: number }> {
  const { count, text } = open;
  const refs = Buffer.from(open.refs);
  // As it is now: it may be filled further meanwhile.
  const now = { ...span, count };
  const block = await compressBlock(text);
  return { span, name: blockName('b', span.id), directory: encodeDirectory({ ...now, sizeBytes: block.length }, refs), block, count };
}

import { ByteReader, ByteWriter } from '../../encoding/bytes.ts';
import { type BlockName, type HistoryWrite, blockName } from './history-database.ts';
import type { FloorPlace, HistoryIndex, ObjectHistory } from './history-index.ts';
import { BlockBuilder, type ChangeRecord, type NewRecord, compressBlock } from './record-block.ts';

/** As blocks of changes. */
const BLOCK_BYTES = 64 * 1024;

interface FloorBlock {
  readonly id: number;
  readonly objectIds: readonly number[];
  readonly sizeBytes: number;
}

/** What pruning does to the floors. */
export interface FloorPlan {
  blocks: HistoryWrite['blocks'];
  removed: BlockName[];
  /** To be called once it is written. */
  apply(): void;
}

/** What objects were before the oldest change that is kept, in blocks. An entry that its object no longer points to is of no use; a block of many such is written anew. */
export class FloorBlocks {
  readonly #index: HistoryIndex;
  readonly #blocks = new Map<number, FloorBlock>();
  #nextId = 1;

  constructor(index: HistoryIndex) {
    this.#index = index;
  }

  get sizeBytes(): number {
    let sum = 0;
    for (const { sizeBytes } of this.#blocks.values()) sum += sizeBytes;
    return sum;
  }

  clear(): BlockName[] {
    const names = Array.from(this.#blocks.keys(), (id) => blockName('f', id));
    this.#blocks.clear();
    return names;
  }

  load(name: BlockName, directory: Buffer): void {
    const reader = new ByteReader(directory);
    const sizeBytes = reader.varint();
    const objectIds: number[] = [];
    while (!reader.isAtEnd) objectIds.push(reader.varint());
    this.#take({ id: Number(name.slice(1)), objectIds, sizeBytes });
  }

  #take(block: FloorBlock): void {
    this.#blocks.set(block.id, block);
    this.#nextId = Math.max(this.#nextId, block.id + 1);
    for (const [index, id] of block.objectIds.entries()) {
      const object = this.#index.byId(id);
      if (object) object.floor = { block: block.id, index };
    }
  }

  /** `floors` take the place of what `superseded` had. `read`: an entry that is still of use. */
  async plan(floors: readonly ChangeRecord[], superseded: readonly ObjectHistory[], read: (place: FloorPlace) => ChangeRecord): Promise<FloorPlan> {
    const without = new Set(superseded.map(({ id }) => id));
    const kept: ChangeRecord[] = [...floors];
    const removed: FloorBlock[] = [];
    for (const block of this.#blocksOf(superseded)) {
      const live = this.#liveIn(block).filter(([id]) => !without.has(id));
      if (live.length * 2 > block.objectIds.length) continue;
      removed.push(block);
      kept.push(...live.map(([, place]) => read(place)));
    }
    const written = await Promise.all(inBlocks(kept).map((records, index) => encodeFloors(this.#nextId + index, records)));
    return {
      blocks: written.map(({ block: { id }, directory, bytes }) => ({ name: blockName('f', id), directory, block: bytes })),
      removed: removed.map(({ id }) => blockName('f', id)),
      apply: () => {
        for (const object of superseded) object.floor = undefined;
        for (const { id } of removed) this.#blocks.delete(id);
        for (const { block } of written) this.#take(block);
      },
    };
  }

  #blocksOf(objects: readonly ObjectHistory[]): FloorBlock[] {
    const ids = new Set(objects.flatMap(({ floor }) => (floor ? [floor.block] : [])));
    return [...ids].map((id) => this.#blocks.get(id)!);
  }

  #liveIn({ id, objectIds }: FloorBlock): [id: number, place: FloorPlace][] {
    return objectIds.flatMap((objectId, index): [number, FloorPlace][] => {
      const floor = this.#index.byId(objectId)?.floor;
      return floor?.block === id && floor.index === index ? [[objectId, floor]] : [];
    });
  }
}

function inBlocks(records: ChangeRecord[]): ChangeRecord[][] {
  const blocks: ChangeRecord[][] = [];
  let sizeBytes = BLOCK_BYTES;
  // Blocks tell revisions as differences.
  for (const record of records.toSorted((a, b) => a.revision - b.revision)) {
    if (sizeBytes >= BLOCK_BYTES) {
      blocks.push([]);
      sizeBytes = 0;
    }
    blocks.at(-1)!.push(record);
    sizeBytes += record.payload.length;
  }
  return blocks;
}

async function encodeFloors(id: number, records: readonly ChangeRecord[]): Promise<{ block: FloorBlock; directory: Buffer; bytes: Buffer }> {
  const builder = new BlockBuilder();
  for (const { revision, objectId, isEncrypted, payload } of records) builder.append(floorOf(revision, objectId, isEncrypted, payload));
  const bytes = await compressBlock(builder.text);
  const out = new ByteWriter(16 + records.length * 3);
  out.varint(bytes.length);
  for (const { objectId } of records) out.varint(objectId);
  return { block: { id, objectIds: records.map(({ objectId }) => objectId), sizeBytes: bytes.length }, directory: Buffer.from(out.written), bytes };
}

/** Floors have neither a time nor an author. */
const floorOf = (revision: number, objectId: number, isEncrypted: boolean, payload: Buffer): NewRecord => ({
  revision,
  timeMs: 0,
  objectId,
  type: 'initial',
  isWhole: true,
  isEncrypted,
  previousRevision: revision,
  annotation: undefined,
  payload,
});

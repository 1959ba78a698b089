import { ByteReader, ByteWriter } from '../../encoding/bytes.ts';
import type { ChangeRecord } from './record-block.ts';

/** Where the versions of one object are. */
export interface ObjectHistory {
  readonly id: number;
  readonly key: string;
  /** The numbers of its records in order, twice, and one more where the record is whole: two words a version. */
  refs: number[];
  /** What it was before the first of them, where that is not told by an initial record: it was pruned. */
  floor: FloorPlace | undefined;
}

export interface FloorPlace {
  block: number;
  index: number;
}

/** Records are numbered from 1 on, through all blocks. */
export interface BlockSpan {
  readonly id: number;
  readonly firstSeq: number;
  count: number;
  firstRevision: number;
  lastRevision: number;
  firstTimeMs: number;
  lastTimeMs: number;
  /** Compressed; 0 while it is not written. */
  sizeBytes: number;
}

export const seqOf = (ref: number): number => Math.floor(ref / 2);
export const isWholeRef = (ref: number): boolean => ref % 2 === 1;

/** What is known of a history without reading its blocks. */
export class HistoryIndex {
  readonly #byKey = new Map<string, ObjectHistory>();
  readonly #byId = new Map<number, ObjectHistory>();
  readonly spans: BlockSpan[] = [];
  nextObjectId = 1;
  /** The number of the next record, and of the last block, where there are none. */
  #emptySeq = 1;
  #lastBlock = 0;

  get objects(): IterableIterator<ObjectHistory> {
    return this.#byKey.values();
  }

  get objectCount(): number {
    return this.#byKey.size;
  }

  get(key: string): ObjectHistory | undefined {
    return this.#byKey.get(key);
  }

  byId(id: number): ObjectHistory | undefined {
    return this.#byId.get(id);
  }

  add(key: string, id = this.nextObjectId++): ObjectHistory {
    const object: ObjectHistory = { id, key, refs: [], floor: undefined };
    this.#byKey.set(key, object);
    this.#byId.set(id, object);
    return object;
  }

  remove({ key, id }: ObjectHistory): void {
    this.#byKey.delete(key);
    this.#byId.delete(id);
  }

  get firstSeq(): number {
    return this.spans[0]?.firstSeq ?? this.#emptySeq;
  }

  get nextSeq(): number {
    const last = this.spans.at(-1);
    return last ? last.firstSeq + last.count : this.#emptySeq;
  }

  /** Forgets everything; numbers go on. Answers the objects. */
  clear(): number[] {
    const objects = [...this.#byId.keys()];
    this.#emptySeq = this.nextSeq;
    this.#lastBlock = this.spans.at(-1)?.id ?? this.#lastBlock;
    this.spans.length = 0;
    this.#byKey.clear();
    this.#byId.clear();
    return objects;
  }

  spanOf(seq: number): BlockSpan | undefined {
    const span = this.spans[lastWhere(this.spans, ({ firstSeq }) => firstSeq <= seq)];
    return span && seq < span.firstSeq + span.count ? span : undefined;
  }

  addSpan(firstSeq: number, record: Pick<ChangeRecord, 'revision' | 'timeMs'>): BlockSpan {
    const { revision, timeMs } = record;
    const id = (this.spans.at(-1)?.id ?? this.#lastBlock) + 1;
    const span = { id, firstSeq, count: 0, firstRevision: revision, lastRevision: revision, firstTimeMs: timeMs, lastTimeMs: timeMs, sizeBytes: 0 };
    this.spans.push(span);
    return span;
  }

  /** The blocks and objects that were stored. */
  load(directories: readonly Buffer[], objects: readonly { id: number; key: string }[]): void {
    for (const { id, key } of objects) this.add(key, id);
    for (const directory of directories) {
      const { span, refs } = decodeDirectory(directory);
      this.spans.push(span);
      for (const [index, ref] of refs.entries()) this.#byId.get(seqOf(ref))?.refs.push((span.firstSeq + index) * 2 + (ref % 2));
    }
  }
}

/** The greatest index whose item satisfies what all before it satisfy; -1 where none does. */
export function lastWhere<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What the index needs of a block: its span, and which object each record is of. `refs`: objects' numbers twice, and one more for a whole version, as varints. */
export function encodeDirectory(span: BlockSpan, refs: Buffer): Buffer {
  const out = new ByteWriter(64 + refs.length);
  const { id, firstSeq, count, firstRevision, firstTimeMs, sizeBytes, lastRevision, lastTimeMs } = span;
  for (const value of [id, firstSeq, count, firstRevision, firstTimeMs, sizeBytes, lastRevision - firstRevision, lastTimeMs - firstTimeMs]) out.varint(value);
  out.raw(refs);
  return Buffer.from(out.written);
}

function decodeDirectory(directory: Buffer): { span: BlockSpan; refs: number[] } {
  const reader = new ByteReader(directory);
  const [id, firstSeq, count, firstRevision, firstTimeMs, sizeBytes] = [0, 0, 0, 0, 0, 0].map(() => reader.varint()) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const lastRevision = firstRevision + reader.varint();
  const lastTimeMs = firstTimeMs + reader.varint();
  const refs: number[] = [];
  for (let left = count; left > 0; left--) refs.push(reader.varint());
  return { span: { id, firstSeq, count, firstRevision, lastRevision, firstTimeMs, lastTimeMs, sizeBytes }, refs };
}

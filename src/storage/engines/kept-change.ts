import { applyDelta, encodeDelta } from '../../encoding/byte-delta.ts';
import type { ChangeKeeping, KeptEvent, StoredEvent } from '../engine.ts';
import type { FileTransaction, KeptRecord } from './lmdb-file.ts';

/*
 * The changes of a batch as they are kept, one behind the other. Each: its bytes (uint32), its type and how the value before is told (a byte each), when it was
 * made, its revision and the one before (float64; 0 for none), bytes of its key (uint16), of its annotation and of what tells the value before (uint32 each, NONE
 * where there is none), and those three.
 */
const NONE = 0xffff_ffff;
const HEAD_BYTES = 4 + 1 + 1 + 3 * 8 + 2 + 4 + 4;
const WHOLE = 0;
/** As what turns the value back into the one before. */
const DELTA = 1;

/** A batch that is in the file. */
interface KeptBatch {
  first: number;
  last: number;
}

/**
 * Says what the embedded engine writes beside a batch of changes, so that each of them is kept until it is released. The value of a change is the object's own
 * until that is overwritten; who overwrites it before it is released keeps what turns the new value into the old one:
 *
 *     revision 7: /a = x, by jane         h7: jane                     /a: x
 *     revision 8: /a = y, by joe          h7: jane, h8: joe, y → x     /a: y
 *     released 7; revision 9: /a = z      h8: joe, y → x; h9: …, z → y /a: z
 *
 * A batch is one entry of the file: an entry for each change took longer than all else.
 */
export class ChangeKeeper {
  /** All changes after this revision were kept. */
  readonly since: number;
  readonly #keeping: ChangeKeeping;
  readonly #found: readonly KeptRecord[];
  /** In order. */
  #kept: KeptBatch[];
  #releasedRevision = 0;
  #batch: { added: readonly KeptBatch[]; removed: number } = { added: [], removed: 0 };

  constructor(keeping: ChangeKeeping, found: readonly KeptRecord[], since: number) {
    this.since = since;
    this.#keeping = keeping;
    this.#found = found;
    this.#kept = found.map((record) => ({ first: record.revision, last: decodeBatch(record.value).at(-1)!.event.revision }));
  }

  /** `read`: the object as it is now. */
  async recover(read: (key: string) => Promise<Buffer | undefined>): Promise<KeptEvent[]> {
    const decoded = this.#found.flatMap(({ value }) => decodeBatch(value));
    /** Of each key: what the next change found. */
    const overwritten = new Map<string, Buffer | undefined>();
    for (const { event, before, isDelta } of decoded.toReversed()) {
      if (event.type === 'put') event.value = overwritten.has(event.key) ? overwritten.get(event.key) : await read(event.key);
      event.previous = before && isDelta ? event.value && applyDelta(event.value, before) : before;
      overwritten.set(event.key, event.previous);
    }
    return decoded.map(({ event }) => event);
  }

  release(revision: number): void {
    this.#releasedRevision = Math.max(this.#releasedRevision, revision);
  }

  /** Whether something can be removed from the file. */
  get hasReleased(): boolean {
    return (this.#kept[0]?.last ?? Infinity) <= this.#releasedRevision;
  }

  /** What is written with the batch; to be settled before the next. */
  keep(events: readonly StoredEvent[]): Pick<FileTransaction, 'kept' | 'released'> {
    const wanted = events.filter(({ key }) => this.#keeping.keeps(key));
    const held = this.#kept.findIndex(({ last }) => last > this.#releasedRevision);
    const released = this.#kept.slice(0, held === -1 ? this.#kept.length : held).map(({ first }) => first);
    const first = wanted[0]?.revision;
    this.#batch = { added: first === undefined ? [] : [{ first, last: wanted.at(-1)!.revision }], removed: released.length };
    return { kept: first === undefined ? [] : [{ revision: first, value: Buffer.concat(wanted.map((event) => this.#encode(event))) }], released };
  }

  settled(isWritten: boolean): void {
    const { added, removed } = this.#batch;
    this.#batch = { added: [], removed: 0 };
    if (isWritten && added.length + removed > 0) this.#kept = [...this.#kept.slice(removed), ...added];
  }

  #encode({ type, key, revision, value, previous, annotation, timeMs = 0 }: StoredEvent): Buffer {
    const isKept = previous !== undefined && (previous.revision > this.#releasedRevision || this.#keeping.keepsPrevious(key));
    const delta = isKept && value ? encodeDelta(value, previous.value) : undefined;
    const before = delta ?? (isKept ? previous.value : undefined);
    const keyBytes = Buffer.byteLength(key);
    const sizeBytes = HEAD_BYTES + keyBytes + (annotation?.length ?? 0) + (before?.length ?? 0);
    const out = Buffer.allocUnsafe(sizeBytes);
    let at = out.writeUInt32LE(sizeBytes, 0);
    at = out.writeUInt8(type === 'delete' ? 1 : 0, at);
    at = out.writeUInt8(delta ? DELTA : WHOLE, at);
    at = out.writeDoubleLE(timeMs, at);
    at = out.writeDoubleLE(revision, at);
    at = out.writeDoubleLE(previous?.revision ?? 0, at);
    at = out.writeUInt16LE(keyBytes, at);
    at = out.writeUInt32LE(annotation?.length ?? NONE, at);
    at = out.writeUInt32LE(before?.length ?? NONE, at);
    at += out.write(key, at);
    if (annotation) at += annotation.copy(out, at);
    if (before) before.copy(out, at);
    return out;
  }
}

interface DecodedChange {
  event: KeptEvent;
  before: Buffer | undefined;
  isDelta: boolean;
}

function decodeBatch(batch: Buffer): DecodedChange[] {
  const changes: DecodedChange[] = [];
  for (let at = 0; at < batch.length; at += batch.readUInt32LE(at)) changes.push(decodeChange(batch.subarray(at, at + batch.readUInt32LE(at))));
  return changes;
}

function decodeChange(bytes: Buffer): DecodedChange {
  const keyEnd = HEAD_BYTES + bytes.readUInt16LE(30);
  const annotationBytes = bytes.readUInt32LE(32);
  const annotationEnd = keyEnd + (annotationBytes === NONE ? 0 : annotationBytes);
  const hasBefore = bytes.readUInt32LE(36) !== NONE;
  return {
    isDelta: bytes.readUInt8(5) === DELTA,
    before: hasBefore ? Buffer.from(bytes.subarray(annotationEnd)) : undefined,
    event: {
      type: bytes.readUInt8(4) === 1 ? 'delete' : 'put',
      timeMs: bytes.readDoubleLE(6),
      revision: bytes.readDoubleLE(14),
      previousRevision: bytes.readDoubleLE(22),
      key: bytes.toString('utf8', HEAD_BYTES, keyEnd),
      value: undefined,
      previous: undefined,
      annotation: annotationBytes === NONE ? undefined : Buffer.from(bytes.subarray(keyEnd, annotationEnd)),
    },
  };
}

import type { ChangeKeeping, KeptEvent, StoredEvent } from '../engine.ts';
import type { FileTransaction, KeptRecord } from './lmdb-file.ts';

/*
 * A change as it is kept: its type (a byte), when it was made (float64), the revision before (float64, 0 for none), bytes of its key (uint16), of its
 * annotation and of the value before (uint32 each, NONE where there is none), and those three.
 */
const NONE = 0xffff_ffff;
const HEAD_BYTES = 1 + 8 + 8 + 2 + 4 + 4;

/**
 * Says what the embedded engine writes beside a batch of changes, so that each of them is kept until it is released. The value of a change is the object's own
 * until that is overwritten; who overwrites it before it is released keeps it:
 *
 *     revision 7: /a = x, by jane         h7: jane                 /a: x
 *     revision 8: /a = y, by joe          h7: jane, h8: joe, x     /a: y
 *     released 7; revision 9: /a = z      h8: joe, x, h9: …, y     /a: z
 */
export class ChangeKeeper {
  readonly #keeping: ChangeKeeping;
  readonly #found: readonly KeptRecord[];
  /** Revisions that the file has, in order. */
  #kept: number[];
  #releasedRevision = 0;
  readonly since: number;
  #batch: { added: readonly number[]; removed: number } = { added: [], removed: 0 };

  /** `since`: all changes after that revision were kept. */
  constructor(keeping: ChangeKeeping, found: readonly KeptRecord[], since: number) {
    this.since = since;
    this.#keeping = keeping;
    this.#found = found;
    this.#kept = found.map(({ revision }) => revision);
  }

  /** `read`: the object as it is now. */
  async recover(read: (key: string) => Promise<Buffer | undefined>): Promise<KeptEvent[]> {
    const events = this.#found.map(decodeKept);
    /** Of each key: what the next change found. */
    const overwritten = new Map<string, Buffer | undefined>();
    for (const event of events.toReversed()) {
      if (event.type === 'put') event.value = overwritten.has(event.key) ? overwritten.get(event.key) : await read(event.key);
      overwritten.set(event.key, event.previous);
    }
    return events;
  }

  release(revision: number): void {
    this.#releasedRevision = Math.max(this.#releasedRevision, revision);
  }

  /** Whether something can be removed from the file. */
  get hasReleased(): boolean {
    return (this.#kept[0] ?? Infinity) <= this.#releasedRevision;
  }

  /** What is written with the batch; to be settled before the next. */
  keep(events: readonly StoredEvent[]): Pick<FileTransaction, 'kept' | 'released'> {
    const kept = events.filter(({ key }) => this.#keeping.keeps(key)).map((event) => this.#recordOf(event));
    const held = this.#kept.findIndex((revision) => revision > this.#releasedRevision);
    const released = this.#kept.slice(0, held === -1 ? this.#kept.length : held);
    this.#batch = { added: kept.map(({ revision }) => revision), removed: released.length };
    return { kept, released };
  }

  settled(isWritten: boolean): void {
    const { added, removed } = this.#batch;
    this.#batch = { added: [], removed: 0 };
    if (isWritten) this.#kept = [...this.#kept.slice(removed), ...added];
  }

  #recordOf({ type, key, revision, previous, annotation, timeMs = 0 }: StoredEvent): KeptRecord {
    const isKept = previous !== undefined && (previous.revision > this.#releasedRevision || this.#keeping.keepsPrevious(key));
    const before = isKept ? previous.value : undefined;
    const keyBytes = Buffer.byteLength(key);
    const value = Buffer.allocUnsafe(HEAD_BYTES + keyBytes + (annotation?.length ?? 0) + (before?.length ?? 0));
    let at = value.writeUInt8(type === 'delete' ? 1 : 0, 0);
    at = value.writeDoubleLE(timeMs, at);
    at = value.writeDoubleLE(previous?.revision ?? 0, at);
    at = value.writeUInt16LE(keyBytes, at);
    at = value.writeUInt32LE(annotation?.length ?? NONE, at);
    at = value.writeUInt32LE(before?.length ?? NONE, at);
    at += value.write(key, at);
    if (annotation) at += annotation.copy(value, at);
    if (before) before.copy(value, at);
    return { revision, value };
  }
}

function decodeKept({ revision, value }: KeptRecord): KeptEvent {
  const keyEnd = HEAD_BYTES + value.readUInt16LE(17);
  const annotationBytes = value.readUInt32LE(19);
  const previousBytes = value.readUInt32LE(23);
  const annotationEnd = keyEnd + (annotationBytes === NONE ? 0 : annotationBytes);
  return {
    type: value.readUInt8(0) === 1 ? 'delete' : 'put',
    timeMs: value.readDoubleLE(1),
    previousRevision: value.readDoubleLE(9),
    key: value.toString('utf8', HEAD_BYTES, keyEnd),
    revision,
    value: undefined,
    annotation: annotationBytes === NONE ? undefined : Buffer.from(value.subarray(keyEnd, annotationEnd)),
    previous: previousBytes === NONE ? undefined : Buffer.from(value.subarray(annotationEnd, annotationEnd + previousBytes)),
  };
}

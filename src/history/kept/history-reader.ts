import { resourceExpired } from '../../api/errors.ts';
import { TimeSlice, nextTurn } from '../../util/time-slice.ts';
import { applyDelta } from '../../encoding/byte-delta.ts';
import { type HistoryBlocks, RecordsPruned } from './history-blocks.ts';
import { type ObjectHistory, isWholeRef, lastWhere, seqOf } from './history-index.ts';
import type { ChangeRecord } from './record-block.ts';

/** A version of an object as it is kept. */
export interface KeptVersion {
  value: Buffer;
  isSealed: boolean;
  revision: number;
}

/** A moment of the past: all records up to a number had been made then. */
export interface Moment {
  seq: number;
  revision: number;
}

/** One change, with what was before and after it; both undefined where nobody asked for them. */
export interface KeptChange {
  seq: number;
  key: string;
  record: ChangeRecord;
  before: KeptVersion | undefined;
  after: KeptVersion | undefined;
}

export const historyExpired = (): Error => resourceExpired('The history of that time is no longer kept.');

/** A read that pruning comes in between is tried so often, a turn of the event loop apart: the index follows the database by a few. */
const READ_ATTEMPTS = 100;

/** Makes versions of objects from what is kept of them. Reads each block once for all that is asked at once, oldest first, in slices of the event loop. */
export class HistoryReader {
  readonly #blocks: HistoryBlocks;

  constructor(blocks: HistoryBlocks) {
    this.#blocks = blocks;
  }

  /** The number of the last record not later than that time. */
  seqAtTime(timeMs: number): number {
    return this.#seqWhere(
      ({ firstTimeMs }) => firstTimeMs <= timeMs,
      (record) => record.timeMs <= timeMs,
    );
  }

  /** The number of the last record of that revision or an older one. */
  seqAtRevision(revision: number): number {
    return this.#seqWhere(
      ({ firstRevision }) => firstRevision <= revision,
      (record) => record.revision <= revision,
    );
  }

  #seqWhere(isSpan: (span: { firstTimeMs: number; firstRevision: number }) => boolean, isRecord: (record: ChangeRecord) => boolean): number {
    const { spans, firstSeq } = this.#blocks.index;
    const span = spans[lastWhere(spans, isSpan)];
    return span ? span.firstSeq + lastWhere(this.#blocks.recordsOf(span), isRecord) : firstSeq - 1;
  }

  /**
   * What the object was then. `unchanged`: it has not changed since, so that it was what it is now; undefined: there was none.
   */
  versionAt(key: string, moment: Moment): Promise<KeptVersion | 'unchanged' | undefined> {
    return this.#whileKept(moment.seq, () => this.#versionAt(key, moment));
  }

  async #versionAt(key: string, moment: Moment): Promise<KeptVersion | 'unchanged' | undefined> {
    const object = this.#blocks.index.get(key);
    if (!object || seqOf(object.refs.at(-1) ?? 0) <= moment.seq) return 'unchanged';
    return (await this.versionsAt([object], moment.seq)).get(object.id);
  }

  /** The objects under the prefix that have changed since then, by key; undefined where there was none. */
  changedSince(prefix: string, moment: Moment): Promise<Map<string, KeptVersion | undefined>> {
    return this.#whileKept(moment.seq, () => this.#changedSince(prefix, moment));
  }

  async #changedSince(prefix: string, moment: Moment): Promise<Map<string, KeptVersion | undefined>> {
    const slice = new TimeSlice();
    const changed: ObjectHistory[] = [];
    for (const object of this.#blocks.index.objects) {
      if (object.key.startsWith(prefix) && seqOf(object.refs.at(-1) ?? 0) > moment.seq) changed.push(object);
      if (slice.isSpent) await slice.next();
    }
    const versions = await this.versionsAt(changed, moment.seq);
    return new Map(changed.map(({ id, key }) => [key, versions.get(id)]));
  }

  /**
   * Reads what is known of the moment behind that record. Pruning may come in between: what was in a block is then in a floor, and is read anew; or the moment
   * itself is gone, which is refused as an expired version of the present is.
   */
  async #whileKept<R>(seq: number, read: () => Promise<R>): Promise<R> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await read();
        this.#ensureKept(seq);
        return result;
      } catch (error) {
        if (!(error instanceof RecordsPruned) || attempt === READ_ATTEMPTS) throw error;
        this.#ensureKept(seq);
        await nextTurn();
      }
    }
  }

  #ensureKept(seq: number): void {
    if (seq + 1 < this.#blocks.index.firstSeq) throw historyExpired();
  }

  /** The newest version that is kept. */
  async latest(object: ObjectHistory): Promise<KeptVersion | undefined> {
    return (await this.versionsAt([object], Infinity)).get(object.id);
  }

  /** By the objects' numbers; nothing of those that did not exist then. */
  async versionsAt(objects: readonly ObjectHistory[], seq: number): Promise<Map<number, KeptVersion>> {
    const states = new Map<number, KeptVersion>();
    const seqs: number[] = [];
    for (const object of objects) {
      const count = lastWhere(object.refs, (ref) => seqOf(ref) <= seq) + 1;
      if (count > 0) this.#addChain(object, count, seqs, states);
      else this.#addFirst(object, seqs, states);
    }
    await this.#replay(seqs, states);
    return states;
  }

  /** Before its first change that is kept. */
  #addFirst(object: ObjectHistory, seqs: number[], states: Map<number, KeptVersion>): void {
    if (object.floor) this.#addFloor(object, states);
    else {
      const first = seqOf(object.refs[0]!);
      if (this.#blocks.recordAt(first).type === 'initial') seqs.push(first);
    }
  }

  #addFloor(object: ObjectHistory, states: Map<number, KeptVersion>): void {
    const { payload, isSealed, revision } = this.#blocks.floorAt(object.floor!);
    states.set(object.id, { value: payload, isSealed, revision });
  }

  /** The records that make the version which the first `count` of them tell: from the last whole one on. */
  #addChain(object: ObjectHistory, count: number, seqs: number[], states: Map<number, KeptVersion>): void {
    let from = count - 1;
    while (from > 0 && !isWholeRef(object.refs[from]!)) from--;
    if (!isWholeRef(object.refs[from]!) && object.floor) this.#addFloor(object, states);
    for (let at = from; at < count; at++) seqs.push(seqOf(object.refs[at]!));
  }

  /** Applies records to states by their order, and tells of each. */
  async #replay(
    seqs: number[],
    states: Map<number, KeptVersion>,
    onRecord?: (seq: number, record: ChangeRecord, before: KeptVersion | undefined, after: KeptVersion | undefined) => void,
  ): Promise<void> {
    const slice = new TimeSlice();
    let previous = 0;
    let block: { firstSeq: number; records: readonly ChangeRecord[] } | undefined;
    for (const seq of Float64Array.from(seqs).sort()) {
      if (seq === previous) continue;
      previous = seq;
      if (!block || seq >= block.firstSeq + block.records.length) block = this.#blocks.blockOf(seq);
      const record = block.records[seq - block.firstSeq]!;
      const before = states.get(record.objectId);
      const after = versionAfter(record, before);
      if (after) states.set(record.objectId, after);
      else states.delete(record.objectId);
      onRecord?.(seq, record, before, after);
      if (slice.isSpent) await slice.next();
    }
  }

  /** The changes of these numbers with their versions, in their order. */
  changes(seqs: readonly number[]): Promise<KeptChange[]> {
    const first = seqs.reduce((least, seq) => Math.min(least, seq), Infinity);
    return this.#whileKept(first - 1, () => this.#changes(seqs));
  }

  async #changes(seqs: readonly number[]): Promise<KeptChange[]> {
    const wanted = new Set(seqs);
    const states = new Map<number, KeptVersion>();
    const needed: number[] = [];
    for (const seq of seqs) {
      const object = this.#blocks.index.byId(this.#blocks.recordAt(seq).objectId)!;
      const before = lastWhere(object.refs, (ref) => seqOf(ref) < seq) + 1;
      if (before > 0) this.#addChain(object, before, needed, states);
      else if (object.floor) this.#addFloor(object, states);
      needed.push(seq);
    }
    const changes = new Map<number, KeptChange>();
    await this.#replay(needed, states, (seq, record, before, after) => {
      if (wanted.has(seq)) changes.set(seq, { seq, key: this.#blocks.index.byId(record.objectId)!.key, record, before, after });
    });
    return seqs.map((seq) => changes.get(seq)!);
  }
}

function versionAfter(record: ChangeRecord, before: KeptVersion | undefined): KeptVersion | undefined {
  const { type, isWhole, isSealed, payload, revision, previousRevision } = record;
  if (type === 'delete') return undefined;
  if (isWhole) return { value: payload, isSealed, revision: type === 'initial' ? previousRevision : revision };
  if (!before) throw new Error(`the history has no version before that of revision ${revision}`);
  return { value: applyDelta(before.value, payload), isSealed, revision };
}

import { type BlockName, type HistoryWrite, blockName } from './history-database.ts';
import type { HistoryBlocks } from './history-blocks.ts';
import { type BlockSpan, type ObjectHistory, lastWhere, seqOf } from './history-index.ts';
import type { HistoryReader } from './history-reader.ts';
import type { ChangeRecord } from './record-block.ts';

export interface HistoryLimits {
  /** Older changes go. */
  maxAgeMs: number;
  /** Of all that is kept, compressed. */
  maxBytes: number;
}

/** Blocks that go at once: what has to be kept of their objects is worked on in one piece. */
const BLOCKS_AT_ONCE = 8;

/** What goes, what is kept instead, and from where on everything is known then. */
interface Pruning extends Omit<HistoryWrite, 'meta'> {
  start: { revision: number; timeMs: number };
  changes: number;
  /** To be called once it is written. */
  finish(): void;
}

/**
 * Takes the oldest blocks away. An object that changes again later must still be known as it was at the beginning of what is left: its version then, its floor,
 * is put into a block of floors. An object that does not change again is what the store has of it, and is forgotten.
 *
 *     before:  [a=1 b=1] [a=2] [a=3 c=1]        after pruning the first two:  floors [a=2], [a=3 c=1]; b is what it is now
 */
export class HistoryPruner {
  readonly #blocks: HistoryBlocks;
  readonly #reader: HistoryReader;
  readonly #limits: HistoryLimits;

  constructor(blocks: HistoryBlocks, reader: HistoryReader, limits: HistoryLimits) {
    this.#blocks = blocks;
    this.#reader = reader;
    this.#limits = limits;
  }

  /** Undefined where nothing is to go. */
  async next(nowMs: number): Promise<Pruning | undefined> {
    const spans = this.#dueSpans(nowMs);
    const last = spans.at(-1);
    if (!last) return undefined;
    const objects = this.#objectsIn(spans);
    const stays = objects.filter(({ refs }) => seqOf(refs.at(-1)!) > lastSeqOf(last));
    const gone = objects.filter(({ refs }) => seqOf(refs.at(-1)!) <= lastSeqOf(last));
    const floors = await this.#floorsOf(stays, last);
    const plan = await this.#blocks.planFloors(floors, objects);
    const removedBlocks: BlockName[] = [...spans.map(({ id }) => blockName('b', id)), ...plan.removed];
    return {
      start: { revision: last.lastRevision, timeMs: last.lastTimeMs },
      changes: spans.reduce((sum, { count }) => sum + count, 0),
      blocks: plan.blocks,
      removedBlocks,
      objects: [],
      removedObjects: gone.map(({ id }) => id),
      finish: () => {
        plan.apply();
        this.#blocks.index.spans.splice(0, spans.length);
        for (const object of stays) object.refs = object.refs.slice(lastWhere(object.refs, (ref) => seqOf(ref) <= lastSeqOf(last)) + 1);
        for (const object of gone) this.#blocks.index.remove(object);
        this.#blocks.forget(removedBlocks);
      },
    };
  }

  /** Never one of which something is not written, as the block that is being filled. */
  #dueSpans(nowMs: number): BlockSpan[] {
    const { spans } = this.#blocks.index;
    const { maxAgeMs, maxBytes } = this.#limits;
    let excessBytes = this.#blocks.sizeBytes - maxBytes;
    const due: BlockSpan[] = [];
    for (const span of spans.slice(0, Math.min(BLOCKS_AT_ONCE, spans.length - 1))) {
      if (!this.#blocks.isWritten(span) || (excessBytes <= 0 && span.lastTimeMs >= nowMs - maxAgeMs)) break;
      excessBytes -= span.sizeBytes;
      due.push(span);
    }
    return due;
  }

  #objectsIn(spans: readonly BlockSpan[]): ObjectHistory[] {
    const ids = new Set(spans.flatMap((span) => this.#blocks.recordsOf(span).map(({ objectId }) => objectId)));
    return [...ids].map((id) => this.#blocks.index.byId(id)!);
  }

  /** What each of them was when the span ended; nothing of those that did not exist then. */
  async #floorsOf(objects: readonly ObjectHistory[], span: BlockSpan): Promise<ChangeRecord[]> {
    const versions = await this.#reader.versionsAt(objects, lastSeqOf(span));
    return objects.flatMap(({ id }) => {
      const version = versions.get(id);
      if (!version) return [];
      const { value, isEncrypted, revision } = version;
      const common = { timeMs: 0, objectId: id, author: '', auditId: '', previousRevision: revision };
      return [{ ...common, revision, type: 'initial' as const, isWhole: true, isEncrypted, payload: value }];
    });
  }
}

const lastSeqOf = ({ firstSeq, count }: BlockSpan): number => firstSeq + count - 1;

import { randomUUID } from 'node:crypto';
import { readSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { TimeSlice } from '../../util/time-slice.ts';
import type { Stored, StoredEvent } from '../engine.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import type { BoltEntries } from './bolt-file.ts';
import { encodeItem, itemOf } from './responses.ts';

/** A page of the store that is read at once has some 4 MiB, as far as the page before it tells. */
const BYTES_A_READ = 4 * 1024 * 1024;
const MAX_KEYS_A_READ = 128;
/** Sorted without giving way to others: less than a millisecond. */
const KEYS_A_RUN = 2048;
const REVISION_BYTES = 17;
const TOMBSTONE_BYTES = REVISION_BYTES + 1;

export interface StateFileOptions {
  engine: LocalEngine;
  /** The lease of what was read; 0n for none. */
  leaseOf: (item: Stored) => bigint;
  /** Where the file is. */
  folder: string;
  /** Whoever wanted the state does so no longer. */
  isOver: () => boolean;
}

/**
 * The state of a store at one revision, with its values in a file that has no name and goes with the process.
 *
 * No reader of the store is held open for it. The keys are read page by page while others write, and every change meanwhile is taken down too: entries of both are
 * known by their revisions, of which each has one change, and the state is all of them but for those that a change has replaced or removed.
 */
export class StateFile implements BoltEntries {
  /** Of the state. */
  revision = 0;
  readonly #file: FileHandle;
  #sizeBytes = 0;
  /** Of all that is in the file, in the order in which it is there. */
  readonly #revisions: number[] = [];
  readonly #starts: number[] = [];
  /** Revisions of entries that are none any more. */
  readonly #replaced = new Set<number>();
  /** The places of the state's entries, in the order of their revisions. */
  #order: number[] = [];

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async collect(options: StateFileOptions): Promise<StateFile> {
    const path = join(options.folder, `snapshot-${randomUUID()}.tmp`);
    const file = await open(path, 'wx+', 0o600);
    const state = new StateFile(file);
    try {
      await unlink(path);
      await state.#collect(options);
      return state;
    } catch (error) {
      await state.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** The revision itself may be that of a removal. etcd takes the newest that it finds for its own, so that there is an entry for it: the removal of no key. */
  get count(): number {
    return this.#order.length + (this.#endsWithEntry ? 0 : 1);
  }

  /** etcd server/storage/mvcc/revision.go: the revision, the number of the change within it, and a mark for removals. */
  keyAt(index: number): Buffer {
    const isTombstone = index === this.#order.length;
    const key = Buffer.alloc(isTombstone ? TOMBSTONE_BYTES : REVISION_BYTES);
    key.writeBigUInt64BE(BigInt(isTombstone ? this.revision : this.#revisions[this.#order[index]!]!), 0);
    key.write('_', 8);
    if (isTombstone) key.write('t', REVISION_BYTES);
    return key;
  }

  valueBytesAt(index: number): number {
    if (index === this.#order.length) return NO_KEY.length;
    const place = this.#order[index]!;
    return (this.#starts[place + 1] ?? this.#sizeBytes) - this.#starts[place]!;
  }

  copyValueAt(index: number, target: Buffer, offset: number): void {
    if (index === this.#order.length) NO_KEY.copy(target, offset);
    // It has just been written, and is read from the kernel's memory.
    else readSync(this.#file.fd, target, offset, this.valueBytesAt(index), this.#starts[this.#order[index]!]!);
  }

  get #endsWithEntry(): boolean {
    return this.#order.length > 0 && this.#revisions[this.#order.at(-1)!] === this.revision;
  }

  async #collect({ engine, leaseOf, isOver }: StateFileOptions): Promise<void> {
    let changes: StoredEvent[] = [];
    const subscription = engine.watch('', engine.publishedRevision + 1, (events) => void changes.push(...events));
    try {
      let start = '';
      let limit = MAX_KEYS_A_READ;
      for (let isMore = true; isMore && !isOver();) {
        const { items, remaining } = await engine.rangeWithin({ start, isStartExcluded: start !== '', end: undefined }, { limit, hasExactCount: false });
        // All that the page may show has been told before: what was told has the lease that is not known otherwise yet.
        const told = changes;
        changes = [];
        this.revision = engine.publishedRevision;
        const sizeBytes = await this.#add(told, items, leaseOf);
        limit = Math.min(Math.max(Math.trunc((items.length * BYTES_A_READ) / (sizeBytes + 1)), 1), MAX_KEYS_A_READ);
        start = items.at(-1)?.key ?? start;
        isMore = remaining > 0;
      }
    } finally {
      subscription.close();
    }
    this.#order = await this.#sortedOrder();
  }

  async #add(told: readonly StoredEvent[], items: readonly Stored[], leaseOf: (item: Stored) => bigint): Promise<number> {
    const entries: Buffer[] = [];
    const add = (item: Stored, leaseId: bigint): void => {
      const entry = encodeItem(item, leaseId);
      this.#revisions.push(item.revision);
      this.#starts.push(this.#sizeBytes);
      this.#sizeBytes += entry.length;
      entries.push(entry);
    };
    const startsAt = this.#sizeBytes;
    for (const event of told) {
      if (event.previous) this.#replaced.add(event.previous.revision);
      if (event.type === 'put') add(itemOf(event), event.leaseId ?? 0n);
    }
    for (const item of items) add(item, leaseOf(item));
    // Where the last one ended; what is read has its own places.
    await this.#file.writeFile(Buffer.concat(entries));
    return this.#sizeBytes - startsAt;
  }

  /** What was both told and read is taken once, as it was told: that came first. */
  async #sortedOrder(): Promise<number[]> {
    const slice = new TimeSlice();
    const revisions = this.#revisions;
    const places = revisions.flatMap((revision, place) => (this.#replaced.has(revision) ? [] : [place]));
    const sorted = await sortedInSlices(places, (a, b) => revisions[a]! - revisions[b]! || a - b, slice);
    return sorted.filter((place, index) => index === 0 || revisions[place] !== revisions[sorted[index - 1]!]);
  }
}

/** Of an item whose key nobody has: field 1. */
const NO_KEY = encodeItem({ key: '\0binnacle/revision', value: Buffer.alloc(0), revision: 0 }, 0n);

async function sortedInSlices(places: readonly number[], compare: (a: number, b: number) => number, slice: TimeSlice): Promise<number[]> {
  let runs: number[][] = [];
  for (let start = 0; start < places.length; start += KEYS_A_RUN) {
    runs.push(places.slice(start, start + KEYS_A_RUN).toSorted(compare));
    if (slice.isSpent) await slice.next();
  }
  while (runs.length > 1) {
    const merged: number[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(runs[i + 1] ? await mergedInSlices(runs[i]!, runs[i + 1]!, compare, slice) : runs[i]!);
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergedInSlices(
  one: readonly number[],
  other: readonly number[],
  compare: (a: number, b: number) => number,
  slice: TimeSlice,
): Promise<number[]> {
  const merged: number[] = [];
  let i = 0;
  let j = 0;
  while (i < one.length || j < other.length) {
    merged.push(j === other.length || (i < one.length && compare(one[i]!, other[j]!) <= 0) ? one[i++]! : other[j++]!);
    if (merged.length % KEYS_A_RUN === 0 && slice.isSpent) await slice.next();
  }
  return merged;
}

import type { CacheEntry } from '../storage/cache/cache.ts';
import { CHUNK_BYTES, type ChunkedBody } from './body.ts';

/** Neighbours in a list as they are written in it, each behind a comma. */
interface Run {
  readonly form: string;
  readonly entries: readonly CacheEntry[];
  readonly bytes: Buffer;
}

/** How one entry is written as an item: its bytes, without the first `skip` of them, which become one `{`. */
export interface ItemForm {
  /** Told apart from other ways to write the same entries. */
  readonly name: string;
  bytesOf(entry: CacheEntry): Buffer;
  skipOf(entry: CacheEntry): number;
}

/** What one list may hold in memory while it is sent; a longer one is copied piece by piece as the client reads. */
const MAX_SHARED_BYTES = 64 * 1024 * 1024;

const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;

/** By a run's first entry. Held weakly: what nobody sends any more is garbage, like the other forms of an entry. */
const runs = new WeakMap<CacheEntry, WeakRef<Run>>();
/** The first entries of lists that were asked for: whoever asks once may be the only one. */
const asked = new WeakSet<CacheEntry>();

/**
 * The runs of a list that is asked for again: many clients list the same collection, and little of it changes in between. Runs that are known are taken as
 * they are; the others are made, up to the next known one. Undefined for the first to ask, and for a list too long to be held.
 */
export function sharedRuns(entries: readonly CacheEntry[], form: ItemForm): Buffer[] | undefined {
  const [first] = entries;
  if (first === undefined) return undefined;
  if (!asked.has(first)) {
    asked.add(first);
    return undefined;
  }
  const found: Buffer[] = [];
  let sizeBytes = 0;
  for (let at = 0; at < entries.length;) {
    const run = knownRun(entries, at, form.name) ?? makeRun(entries, at, form);
    found.push(run.bytes);
    at += run.entries.length;
    sizeBytes += run.bytes.length;
    if (sizeBytes > MAX_SHARED_BYTES) return undefined;
  }
  return found;
}

function knownRun(entries: readonly CacheEntry[], at: number, form: string): Run | undefined {
  const run = runs.get(entries[at]!)?.deref();
  if (run === undefined || run.form !== form || run.entries.length > entries.length - at) return undefined;
  for (let i = 0; i < run.entries.length; i++) if (run.entries[i] !== entries[at + i]) return undefined;
  return run;
}

function makeRun(entries: readonly CacheEntry[], start: number, form: ItemForm): Run {
  let end = start;
  let sizeBytes = 0;
  while (end < entries.length && sizeBytes < CHUNK_BYTES && (end === start || knownRun(entries, end, form.name) === undefined)) {
    const entry = entries[end++]!;
    const skip = form.skipOf(entry);
    sizeBytes += 1 + form.bytesOf(entry).length - skip + (skip > 0 ? 1 : 0);
  }
  const run = { form: form.name, entries: entries.slice(start, end), bytes: Buffer.allocUnsafeSlow(sizeBytes) };
  let at = 0;
  for (const entry of run.entries) {
    const bytes = form.bytesOf(entry);
    const skip = form.skipOf(entry);
    run.bytes[at++] = COMMA;
    if (skip > 0) run.bytes[at++] = OPENING_BRACE;
    at += bytes.copy(run.bytes, at, skip);
  }
  runs.set(entries[start]!, new WeakRef(run));
  return run;
}

/** `head`, the items of these runs, `tail`. */
export class RunListBody implements ChunkedBody {
  readonly sizeBytes: number;
  readonly #pieces: readonly Buffer[];

  constructor(head: string, shared: readonly Buffer[], tail: string) {
    const [first, ...rest] = shared;
    // No comma before the first item.
    this.#pieces = [Buffer.from(head), first!.subarray(1), ...rest, Buffer.from(tail)];
    this.sizeBytes = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  chunks(): Iterable<Buffer> {
    return this.#pieces;
  }
}

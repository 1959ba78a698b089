import type { FileBounds, FileEntry, FileOperation } from './file-operation.ts';
import { type Volume, volumeOf } from './lmdb-database.ts';

/** What is read of a database alone. */
interface Written {
  get(key: Buffer): FileEntry | undefined;
  range(bounds: FileBounds, limit?: number): Iterable<FileEntry>;
  count(bounds: FileBounds): number;
}

/** A Latin-1 text of a key's bytes: texts compare as the bytes do. */
export const textOf = (key: Buffer): string => key.toString('latin1');

/** Changes that are to be written to a database, the last one of each key, and how the database reads with them. */
export class UnwrittenOperations {
  /** Of all that was added. */
  readonly volume: Volume = { keys: 0, pages: 0 };
  readonly #operations: Map<string, FileOperation>;

  constructor(...others: UnwrittenOperations[]) {
    this.#operations = new Map(others.flatMap((other) => [...other.#operations]));
  }

  get size(): number {
    return this.#operations.size;
  }

  add(operations: readonly FileOperation[]): void {
    const { keys, pages } = volumeOf(operations);
    this.volume.keys += keys;
    this.volume.pages += pages;
    for (const operation of operations) this.#operations.set(textOf(operation.key), operation);
  }

  values(): Iterable<FileOperation> {
    return this.#operations.values();
  }

  /** By the text of its key. */
  get(text: string): FileOperation | undefined {
    return this.#operations.get(text);
  }

  getOver(written: Written, key: Buffer): FileEntry | undefined {
    const operation = this.get(textOf(key));
    return operation === undefined ? written.get(key) : asEntry(operation);
  }

  *rangeOver(written: Written, bounds: FileBounds, limit = Infinity): Iterable<FileEntry> {
    let left = limit;
    for (const entry of this.#merged(written.range(bounds), this.#within(bounds))) {
      if (left-- <= 0) return;
      yield entry;
    }
  }

  countOver(written: Written, bounds: FileBounds): number {
    let count = written.count(bounds);
    for (const { key, value } of this.#within(bounds)) count += (value === undefined ? 0 : 1) - (written.get(key) === undefined ? 0 : 1);
    return count;
  }

  /** In the order of their keys. */
  #within({ start, end, exclusiveStart = false }: FileBounds): FileOperation[] {
    const [first, beyond] = [textOf(start), textOf(end)];
    const texts = [...this.#operations.keys()].filter((text) => (exclusiveStart ? text > first : text >= first) && text < beyond);
    return texts.sort().map((text) => this.#operations.get(text)!);
  }

  *#merged(entries: Iterable<FileEntry>, operations: readonly FileOperation[]): Iterable<FileEntry> {
    let next = 0;
    for (const entry of entries) {
      let order = 1;
      for (; next < operations.length && (order = operations[next]!.key.compare(entry.key)) < 0; next++) yield* entriesOf(operations[next]!);
      if (next === operations.length || order > 0) yield entry;
    }
    for (; next < operations.length; next++) yield* entriesOf(operations[next]!);
  }
}

const asEntry = ({ key, value, version }: FileOperation): FileEntry | undefined => (value === undefined ? undefined : { key, value, version });

function entriesOf(operation: FileOperation): FileEntry[] {
  const entry = asEntry(operation);
  return entry === undefined ? [] : [entry];
}

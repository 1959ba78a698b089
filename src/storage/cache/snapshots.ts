import type { OrderedMap } from '../ordered-map.ts';
import type { StoredEntry } from './entry.ts';

interface Snapshot {
  revision: number;
  tree: OrderedMap<string, StoredEntry>;
  /** Of the page of it that was listed last. */
  pageEnd?: PageEnd;
}

/** Where a page of a list ends, and how many keys of the list follow: the next page begins there, and need not count them. */
export interface PageEnd {
  lastKey: string;
  listEnd: string;
  remaining: number;
}

const MAX_SNAPSHOTS = 32;

/** States that paged lists were told to come back to, until the store is compacted beyond them. The least recently used go first. */
export class Snapshots {
  /** The most recently used last. */
  #kept: Snapshot[] = [];

  get(revision: number): OrderedMap<string, StoredEntry> | undefined {
    const snapshot = this.#take(revision);
    if (snapshot === undefined) return undefined;
    this.#kept.push(snapshot);
    return snapshot.tree;
  }

  /** `tree` must not change any more. */
  keep(revision: number, tree: OrderedMap<string, StoredEntry>): void {
    this.#take(revision);
    this.#kept.push({ revision, tree });
    if (this.#kept.length > MAX_SNAPSHOTS) this.#kept.shift();
  }

  /** To be called when the state is kept: the one page end that is remembered of it. */
  endPage(revision: number, end: PageEnd): void {
    const snapshot = this.#kept.find((kept) => kept.revision === revision);
    if (snapshot) snapshot.pageEnd = end;
  }

  /** How many keys follow `after` in a list of that state; undefined where no page has ended there. */
  remainingBehind(revision: number, after: string, listEnd: string): number | undefined {
    const end = this.#kept.find((kept) => kept.revision === revision)?.pageEnd;
    return end?.lastKey === after && end.listEnd === listEnd ? end.remaining : undefined;
  }

  /** Using a state does not keep it: those before the oldest revision that the store has go, whoever asks for them. */
  dropBefore(revision: number): void {
    if (this.#kept.length > 0) this.#kept = this.#kept.filter((snapshot) => snapshot.revision >= revision);
  }

  clear(): void {
    this.#kept = [];
  }

  #take(revision: number): Snapshot | undefined {
    const at = this.#kept.findIndex((snapshot) => snapshot.revision === revision);
    return at === -1 ? undefined : this.#kept.splice(at, 1)[0];
  }
}

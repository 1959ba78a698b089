import type { Clock } from '../../util/clock.ts';
import type { OrderedMap } from '../ordered-map.ts';
import type { StoredEntry } from './entry.ts';

interface Snapshot {
  tree: OrderedMap<string, StoredEntry>;
  keptAtMs: number;
}

const MAX_SNAPSHOTS = 32;
/** As long as upstream's store keeps a revision (--etcd-compaction-interval). */
const MAX_AGE_MS = 5 * 60_000;

/** States that paged lists were told to come back to. The least recently used go first. */
export class Snapshots {
  readonly #byRevision = new Map<number, Snapshot>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(revision: number): OrderedMap<string, StoredEntry> | undefined {
    const snapshot = this.#byRevision.get(revision);
    if (snapshot === undefined) return undefined;
    this.#byRevision.delete(revision);
    if (snapshot.keptAtMs < this.#clock.now() - MAX_AGE_MS) return undefined;
    this.#byRevision.set(revision, snapshot);
    return snapshot.tree;
  }

  /** `tree` must not change any more. */
  keep(revision: number, tree: OrderedMap<string, StoredEntry>): void {
    this.#byRevision.delete(revision);
    this.#byRevision.set(revision, { tree, keptAtMs: this.#clock.now() });
    for (const oldest of this.#byRevision.keys()) {
      if (this.#byRevision.size <= MAX_SNAPSHOTS) break;
      this.#byRevision.delete(oldest);
    }
  }

  clear(): void {
    this.#byRevision.clear();
  }
}

import type { Clock } from '../../util/clock.ts';
import type { OrderedMap } from '../ordered-map.ts';
import type { StoredEntry } from './entry.ts';

interface Snapshot {
  revision: number;
  tree: OrderedMap<string, StoredEntry>;
  keptAtMs: number;
}

const MAX_SNAPSHOTS = 32;
/** As long as upstream's store keeps a revision (--etcd-compaction-interval). */
const MAX_AGE_MS = 5 * 60_000;

/** States that paged lists were told to come back to. The least recently used go first. */
export class Snapshots {
  /** The most recently used last. */
  #kept: Snapshot[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(revision: number): OrderedMap<string, StoredEntry> | undefined {
    const snapshot = this.#take(revision);
    if (snapshot === undefined || snapshot.keptAtMs < this.#clock.now() - MAX_AGE_MS) return undefined;
    this.#kept.push(snapshot);
    return snapshot.tree;
  }

  /** `tree` must not change any more. */
  keep(revision: number, tree: OrderedMap<string, StoredEntry>): void {
    this.#take(revision);
    this.#kept.push({ revision, tree, keptAtMs: this.#clock.now() });
    if (this.#kept.length > MAX_SNAPSHOTS) this.#kept.shift();
  }

  clear(): void {
    this.#kept = [];
  }

  #take(revision: number): Snapshot | undefined {
    const at = this.#kept.findIndex((snapshot) => snapshot.revision === revision);
    return at === -1 ? undefined : this.#kept.splice(at, 1)[0];
  }
}

import type { Engine, KeptChanges, RangeOptions, RangeResult, StorageChange, Stored, StoredEvent, Subscription } from '../../storage/engine.ts';

/** Of changes whose event has not come, though they were acknowledged: the way to the store is broken, and will end the watch. */
const MAX_NOTED = 100_000;

/** A store that others write to does not tell who made a change. This remembers who of this process did, until the event comes. */
export class AuthorLedger implements Engine {
  readonly #engine: Engine;
  readonly #isRecorded: (key: string) => boolean;
  readonly #noted = new Map<number, Buffer>();
  /** Commits of each key that are under way. */
  readonly #pending = new Map<string, number>();
  /** Called whenever a commit has ended. */
  onSettled: () => void = () => {};

  constructor(engine: Engine, isRecorded: (key: string) => boolean) {
    this.#engine = engine;
    this.#isRecorded = isRecorded;
  }

  async commit({ annotation, ...change }: StorageChange): Promise<number> {
    const { key } = change;
    if (!annotation || !this.#isRecorded(key)) return this.#engine.commit(change);
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
    try {
      const revision = await this.#engine.commit(change);
      if (this.#noted.size >= MAX_NOTED) this.#noted.delete(this.#noted.keys().next().value!);
      this.#noted.set(revision, annotation);
      return revision;
    } finally {
      const left = this.#pending.get(key)! - 1;
      if (left === 0) this.#pending.delete(key);
      else this.#pending.set(key, left);
      this.onSettled();
    }
  }

  /** Whether it cannot be said yet who made the change. */
  isOpen({ key, revision }: StoredEvent): boolean {
    return this.#pending.has(key) && !this.#noted.has(revision);
  }

  take({ revision }: StoredEvent): Buffer | undefined {
    const annotation = this.#noted.get(revision);
    this.#noted.delete(revision);
    return annotation;
  }

  get isSingleWriter(): boolean {
    return this.#engine.isSingleWriter;
  }
  get oldestRevision(): number {
    return this.#engine.oldestRevision;
  }
  get keptChanges(): KeptChanges | undefined {
    return this.#engine.keptChanges;
  }
  get(key: string): Promise<Stored | undefined> {
    return this.#engine.get(key);
  }
  range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.#engine.range(prefix, options);
  }
  watch(...call: Parameters<Engine['watch']>): Subscription {
    return this.#engine.watch(...call);
  }
  currentRevision(): Promise<number> {
    return this.#engine.currentRevision();
  }
  compact(revision: number): Promise<void> {
    return this.#engine.compact(revision);
  }
  checkHealth(timeoutMs?: number): Promise<void> {
    return this.#engine.checkHealth(timeoutMs);
  }
  close(): Promise<void> {
    return this.#engine.close();
  }
}

import type { Clock, Timer } from '../../util/clock.ts';
import { AttributeIndex } from './attribute-index.ts';
import { labelsOf, nextOf } from './attributes.ts';
import type { Attribute, FieldAttribute } from './cache.ts';
import type { CacheChange } from './history.ts';

/** An index that nobody has selected by for so long is dropped, but for those of open watches. */
const UNUSED_MS = 5 * 60_000;
const SWEEP_MS = 60_000;
/** Beyond this, the ones that were used longest ago are dropped, but for those of open watches. */
const MAX_UNWATCHED = 32;

interface IndexesOptions {
  clock: Clock;
  /** The revision of the newest change that was applied. */
  changedAt: () => number;
  /** All later changes are in history. */
  historyBase: () => number;
}

/** The indexes of one cache: those that somebody selects by, or did lately. Who selects by nothing has none, and pays nothing. */
export class Indexes {
  readonly #options: IndexesOptions;
  readonly #byField = new Map<FieldAttribute, AttributeIndex>();
  readonly #byLabel = new Map<string, AttributeIndex>();
  #sweeping: Timer | undefined;

  constructor(options: IndexesOptions) {
    this.#options = options;
  }

  /** The index of the attribute, which is counted as used now. */
  of(attribute: Attribute): AttributeIndex {
    let index = attribute.label === undefined ? this.#byField.get(attribute) : this.#byLabel.get(attribute.label);
    index ??= this.#make(attribute);
    index.usedAtMs = this.#options.clock.now();
    return index;
  }

  /** A watcher that it was counted for is gone. */
  release(index: AttributeIndex): void {
    index.watchers--;
    index.usedAtMs = this.#options.clock.now();
  }

  /** The change is in the cache's tree and in history. */
  apply(change: CacheChange): void {
    if (this.#byField.size > 0) for (const index of this.#byField.values()) this.#applyTo(index, change);
    if (this.#byLabel.size > 0) this.#applyToLabels(change);
  }

  clear(): void {
    for (const index of this.#all()) index.isDropped = true;
    this.#byField.clear();
    this.#byLabel.clear();
    this.#sweeping?.cancel();
    this.#sweeping = undefined;
  }

  #applyTo(index: AttributeIndex, change: CacheChange): void {
    index.apply(change);
    index.log.trim(this.#options.historyBase());
  }

  /** Of ten thousand labels that are selected by, an object has few. */
  #applyToLabels(change: CacheChange): void {
    let keys: Set<string>;
    try {
      keys = new Set([...Object.keys(labelsOf(change.previous)), ...Object.keys(labelsOf(nextOf(change)))]);
    } catch {
      // Each finds out that it can not be read.
      keys = new Set(this.#byLabel.keys());
    }
    for (const key of keys) {
      const index = this.#byLabel.get(key);
      if (index) this.#applyTo(index, change);
    }
  }

  #make(attribute: Attribute): AttributeIndex {
    this.#dropBeyond(MAX_UNWATCHED - 1);
    const index = new AttributeIndex(attribute, this.#options.changedAt());
    if (attribute.label === undefined) this.#byField.set(attribute, index);
    else this.#byLabel.set(attribute.label, index);
    this.#sweeping ??= this.#sweepLater();
    return index;
  }

  #dropBeyond(max: number): void {
    const unwatched = [...this.#all()].filter(({ watchers }) => watchers === 0);
    if (unwatched.length > max) this.#drop(unwatched.reduce((oldest, index) => (index.usedAtMs < oldest.usedAtMs ? index : oldest)));
  }

  #sweepLater(): Timer {
    return this.#options.clock.after(SWEEP_MS, () => {
      const staleMs = this.#options.clock.now() - UNUSED_MS;
      for (const index of this.#all()) if (index.watchers === 0 && index.usedAtMs <= staleMs) this.#drop(index);
      this.#sweeping = this.#byField.size + this.#byLabel.size > 0 ? this.#sweepLater() : undefined;
    });
  }

  #drop(index: AttributeIndex): void {
    index.isDropped = true;
    if (index.attribute.label === undefined) this.#byField.delete(index.attribute);
    else this.#byLabel.delete(index.attribute.label);
  }

  *#all(): Iterable<AttributeIndex> {
    yield* this.#byField.values();
    yield* this.#byLabel.values();
  }
}

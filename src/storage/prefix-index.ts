/**
 * Things filed under key prefixes, found by a key. Costs a lookup for every `/` of the key, however many prefixes there are; prefixes that do not end
 * with a `/` are compared one by one.
 */
export class PrefixIndex<T> {
  readonly #byFolder = new Map<string, Set<T>>();
  readonly #others = new Map<string, Set<T>>();

  add(prefix: string, item: T): void {
    const sets = this.#setsFor(prefix);
    const set = sets.get(prefix);
    if (set) set.add(item);
    else sets.set(prefix, new Set([item]));
  }

  remove(prefix: string, item: T): void {
    const sets = this.#setsFor(prefix);
    const set = sets.get(prefix);
    set?.delete(item);
    if (set?.size === 0) sets.delete(prefix);
  }

  /** Items may be added and removed meanwhile; whether `visit` sees those is not promised. */
  forEachUnder(key: string, visit: (item: T) => void): void {
    if (this.#byFolder.size > 0) {
      for (let slash = key.indexOf('/'); slash !== -1; slash = key.indexOf('/', slash + 1)) {
        this.#byFolder.get(key.slice(0, slash + 1))?.forEach(visit);
      }
    }
    for (const [prefix, set] of this.#others) if (key.startsWith(prefix)) set.forEach(visit);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const sets of [this.#byFolder, this.#others]) for (const set of sets.values()) yield* set;
  }

  #setsFor(prefix: string): Map<string, Set<T>> {
    return prefix.endsWith('/') ? this.#byFolder : this.#others;
  }
}

const FIRST_PLACES = 16;

/**
 * Things in the order of their revisions, added at the end and dropped at the front, found by revision in logarithmic time.
 *
 * They lie in a ring, whose places are a power of two and change seldom: V8 would take an array that is begun anew again and again for old at some time, and
 * then all that was in it when it was left lives until the next full collection. For a queue that means all that ever passes through it.
 */
export class RevisionQueue<T extends { readonly revision: number }> {
  /** None before the first thing: most caches of a server that a test starts see no change. */
  #ring: (T | undefined)[] = [];
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): T | undefined {
    return this.#ring[this.#head];
  }

  push(item: T): void {
    if (this.#length === this.#ring.length) this.#resize(Math.max(this.#ring.length * 2, FIRST_PLACES));
    this.#ring[this.#placeOf(this.#length++)] = item;
  }

  shift(): T | undefined {
    const item = this.#ring[this.#head];
    if (item === undefined) return undefined;
    this.#ring[this.#head] = undefined;
    this.#head = this.#placeOf(1);
    this.#length--;
    if (this.#ring.length > FIRST_PLACES && this.#length * 4 <= this.#ring.length) this.#resize(this.#ring.length / 2);
    return item;
  }

  clear(): void {
    this.#ring = [];
    this.#head = 0;
    this.#length = 0;
  }

  /** Those of `revision` or later, oldest first. */
  since(revision: number): T[] {
    return this.#from(this.#indexOf(revision));
  }

  /** Those of exactly `revision`. */
  at(revision: number): T[] {
    const items: T[] = [];
    for (let i = this.#indexOf(revision); i < this.#length; i++) {
      const item = this.#ring[this.#placeOf(i)]!;
      if (item.revision !== revision) break;
      items.push(item);
    }
    return items;
  }

  /** Of the first that is of `revision` or later. */
  #indexOf(revision: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ring[this.#placeOf(middle)]!.revision < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #from(index: number): T[] {
    const items: T[] = [];
    for (let i = index; i < this.#length; i++) items.push(this.#ring[this.#placeOf(i)]!);
    return items;
  }

  #placeOf(index: number): number {
    return (this.#head + index) & (this.#ring.length - 1);
  }

  #resize(places: number): void {
    const items = this.#from(0);
    this.#ring = emptyRing(places);
    this.#head = 0;
    for (const [i, item] of items.entries()) this.#ring[i] = item;
  }
}

const emptyRing = <T>(places: number): (T | undefined)[] => Array.from<T | undefined>({ length: places }).fill(undefined);

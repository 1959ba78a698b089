/** Something that can be in one bag at a time. */
export interface Bagged {
  /** Its place in the bag, which the bag keeps. */
  bagIndex: number;
}

/**
 * What comes and goes with every request. A Set would do, but for V8's tables: one that is outgrown points at the one that took its place, and so, once it
 * is old, keeps alive all that came after it until the next full collection. Young collections then take five times as long.
 */
export class Bag<T extends Bagged> implements Iterable<T> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.bagIndex = this.#items.length;
    this.#items.push(item);
  }

  /** It is in the bag. */
  delete(item: T): void {
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#items[item.bagIndex] = last;
    last.bagIndex = item.bagIndex;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.values();
  }
}

/** Things in the order of their revisions, added at the end and dropped at the front, found by revision in logarithmic time. */
export class RevisionQueue<T extends { readonly revision: number }> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head++];
    // Dropped places are given back once they are half of all: constant time a shift on average.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }

  /** Those of `revision` or later, oldest first. */
  since(revision: number): T[] {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#items[middle]!.revision < revision) low = middle + 1;
      else high = middle;
    }
    return low === this.#items.length ? [] : this.#items.slice(low);
  }
}

/** A power of two. Most connections have one request or two at a time, and there may be ten thousand of them. */
const FIRST_CAPACITY = 4;

/**
 * A connection's open streams by number. The tables of V8's Maps and objects are made anew every few dozen changes; those that were given up hold on to what
 * was in them, and once they are old, to all of it and what hangs on it until the next full collection. Young collections then copy megabytes, and a request
 * costs a tenth more. This one keeps its places: a stream is where its number says, or in the first free place behind that.
 */
export class StreamTable<T extends { readonly id: number }> {
  size = 0;
  #places: (T | undefined)[] = emptyPlaces(FIRST_CAPACITY);

  get(id: number): T | undefined {
    const places = this.#places;
    const mask = places.length - 1;
    for (let at = firstPlace(id, mask); ; at = (at + 1) & mask) {
      const stream = places[at];
      if (stream === undefined || stream.id === id) return stream;
    }
  }

  /** No other has its number. */
  add(stream: T): void {
    if (this.size * 2 >= this.#places.length) this.#grow();
    this.#put(stream);
    this.size++;
  }

  /** It is in the table. */
  delete(stream: T): void {
    const places = this.#places;
    const mask = places.length - 1;
    let free = firstPlace(stream.id, mask);
    while (places[free] !== stream) free = (free + 1) & mask;
    this.size--;
    // Those behind it that it was in the way of move up, so that no search ends before them.
    for (let at = (free + 1) & mask; places[at] !== undefined; at = (at + 1) & mask) {
      const wanted = firstPlace(places[at]!.id, mask);
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      places[free] = places[at];
      free = at;
    }
    places[free] = undefined;
  }

  /** Those of now, in the order of their numbers. */
  values(): T[] {
    return this.#places.filter((stream) => stream !== undefined).sort((a, b) => a.id - b.id);
  }

  #put(stream: T): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = firstPlace(stream.id, mask);
    while (places[at] !== undefined) at = (at + 1) & mask;
    places[at] = stream;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = emptyPlaces(before.length * 2);
    for (const stream of before) if (stream) this.#put(stream);
    before.fill(undefined);
  }
}

const emptyPlaces = (capacity: number): undefined[] => Array.from({ length: capacity }, () => undefined);

/** Each end numbers its streams with every second number. */
const firstPlace = (id: number, mask: number): number => (id >>> 1) & mask;

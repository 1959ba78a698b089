/** So many keys may come before the map is begun anew. */
const KEYS_A_MAP = 256;

/**
 * What comes and goes with every request, by its key. A Map would do, but for V8's tables: see src/util/bag.ts. So here it is begun anew every now and then,
 * and the one before it serves on until it is empty, which is soon where what comes also goes.
 */
export class PassingMap<V> {
  #newest = new Map<string, V>();
  #before = new Map<string, V>();
  #added = 0;

  get size(): number {
    return this.#newest.size + this.#before.size;
  }

  get(key: string): V | undefined {
    return this.#newest.get(key) ?? this.#before.get(key);
  }

  set(key: string, value: V): void {
    this.#before.delete(key);
    this.#newest.set(key, value);
    this.#added++;
    if (this.#added < KEYS_A_MAP || this.#before.size > 0) return;
    this.#before = this.#newest;
    this.#newest = new Map();
    this.#added = 0;
  }

  delete(key: string): void {
    if (!this.#newest.delete(key)) this.#before.delete(key);
  }

  *values(): IterableIterator<V> {
    yield* this.#before.values();
    yield* this.#newest.values();
  }
}

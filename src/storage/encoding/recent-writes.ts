interface Write {
  value: Buffer;
  json: Buffer;
}

/** So many are kept, and up to twice as many. */
const MIN_WRITES = 256;
/** Larger objects are rare, and not worth the memory. */
const MAX_VALUE_BYTES = 32 * 1024;
/** Holds an object's name and uid. */
const HEAD_BYTES = 192;

/** The last objects that a server has encoded, of all kinds: their values come back in a moment, from the commit and from the watch, and need not be decoded. */
export class RecentWrites {
  /** Maps that are filled and then dropped as a whole: see src/util/bag.ts for what those keep alive that are added to and taken from. */
  #newest = new Map<string, Write>();
  #before = new Map<string, Write>();

  /** `json` has no resourceVersion. */
  add(value: Buffer, json: () => string): void {
    if (value.length > MAX_VALUE_BYTES) return;
    if (this.#newest.size >= MIN_WRITES) {
      this.#before = this.#newest;
      this.#newest = new Map();
    }
    this.#newest.set(headOf(value), { value, json: Buffer.from(json()) });
  }

  /** The JSON of the object that was encoded as this value. */
  find(value: Buffer): Buffer | undefined {
    const head = headOf(value);
    const write = this.#newest.get(head) ?? this.#before.get(head);
    return write?.value.equals(value) ? write.json : undefined;
  }
}

const headOf = (value: Buffer): string => value.toString('latin1', 0, HEAD_BYTES);

interface Write {
  value: Buffer;
  json: Buffer;
}

const MAX_WRITES = 256;
/** Larger objects are rare, and not worth the memory. */
const MAX_VALUE_BYTES = 32 * 1024;
/** Holds an object's name and uid. */
const HEAD_BYTES = 192;

/** The last objects that a server has encoded, of all kinds: their values come back in a moment, from the commit and from the watch, and need not be decoded. */
export class RecentWrites {
  readonly #writes = new Map<string, Write>();

  /** `json` has no resourceVersion. */
  add(value: Buffer, json: () => string): void {
    if (value.length > MAX_VALUE_BYTES) return;
    if (this.#writes.size >= MAX_WRITES) this.#writes.delete(this.#writes.keys().next().value!);
    this.#writes.set(headOf(value), { value, json: Buffer.from(json()) });
  }

  /** The JSON of the object that was encoded as this value. */
  find(value: Buffer): Buffer | undefined {
    const write = this.#writes.get(headOf(value));
    return write?.value.equals(value) ? write.json : undefined;
  }
}

const headOf = (value: Buffer): string => value.toString('latin1', 0, HEAD_BYTES);

const PIECE_BYTES = 64 * 1024;
/** Larger values get memory of their own. */
const LARGEST_SHARED_BYTES = 8 * 1024;

/**
 * Memory for the values of writes, which the engine's history keeps and drops in the order in which they came: neighbours in a piece go with it. Node's own pool
 * would have what is let go of at once between them, and each value would keep that.
 */
export class ValueMemory {
  #piece = Buffer.alloc(0);
  #usedBytes = 0;

  copyOf(value: Buffer): Buffer {
    const { length } = value;
    if (length > LARGEST_SHARED_BYTES) return copied(value, Buffer.allocUnsafeSlow(length));
    if (this.#usedBytes + length > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#usedBytes = 0;
    }
    const start = this.#usedBytes;
    this.#usedBytes += length;
    return copied(value, this.#piece.subarray(start, this.#usedBytes));
  }
}

function copied(value: Buffer, memory: Buffer): Buffer {
  value.copy(memory);
  return memory;
}

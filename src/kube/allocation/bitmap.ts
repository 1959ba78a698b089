/** Which of a run of numbers are taken; as bytes it is what Go's big.Int says of it, as upstream stores it (registry/core/service/allocator/bitmap.go). */
export class Bitmap {
  readonly #bits: Uint8Array;

  /** `size`: how many numbers there are. `data`: as `toBase64` wrote it. */
  constructor(size: number, data = '') {
    this.#bits = new Uint8Array(Math.ceil(size / 8));
    const stored = Buffer.from(data, 'base64').toReversed();
    this.#bits.set(stored.subarray(0, this.#bits.length));
  }

  has(index: number): boolean {
    return (this.#bits[index >> 3]! & (1 << (index & 7))) !== 0;
  }

  add(index: number): void {
    this.#bits[index >> 3]! |= 1 << (index & 7);
  }

  delete(index: number): void {
    this.#bits[index >> 3]! &= ~(1 << (index & 7));
  }

  /** The biggest number first, and no zero before it. */
  toBase64(): string {
    const length = this.#bits.findLastIndex((byte) => byte !== 0) + 1;
    return Buffer.from(this.#bits.subarray(0, length).toReversed()).toString('base64');
  }
}

/** A smaller piece is copied behind those before it: what comes byte by byte would take a hundred times its size, and hold on to all that it came with. */
const SMALL_BYTES = 4096;
const SHARED_BYTES = 16 * 1024;

/** Pieces of a body or message as the network brings them, in their order, to be taken as one. Memory grows with their bytes, however small they are. */
export class BytePieces {
  #pieces: Buffer[] = [];
  /** Where the small ones are that came last, and how far it is filled. */
  #shared: Buffer | undefined;
  #sharedBytes = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** The piece may be kept as it is. */
  add(piece: Buffer): void {
    if (this.isEmpty || piece.length > SMALL_BYTES) {
      this.#closeShared();
      this.#pieces.push(piece);
      return;
    }
    if (this.#sharedBytes + piece.length > SHARED_BYTES) this.#closeShared();
    this.#shared ??= Buffer.allocUnsafeSlow(SHARED_BYTES);
    this.#sharedBytes += piece.copy(this.#shared, this.#sharedBytes);
  }

  /** All of them, which may be the memory of the only one; none are left. */
  take(): Buffer {
    this.#closeShared();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  #closeShared(): void {
    if (this.#shared) this.#pieces.push(this.#shared.subarray(0, this.#sharedBytes));
    this.#shared = undefined;
    this.#sharedBytes = 0;
  }
}

/**
 * The last lines, in memory of a fixed size: strings that live for a thousand requests would become garbage that V8 collects seldom. Each line has a number; where
 * there is no room, the oldest go.
 */
export class LineRing {
  readonly #maxLines: number;
  readonly #bytes: Buffer;
  /** Of line number n at n modulo the most lines: where it begins, and how long it is. */
  readonly #starts: Uint32Array;
  readonly #lengths: Uint32Array;
  #first = 0;
  #end = 0;
  #writeAt = 0;

  constructor(maxLines: number, sizeBytes: number) {
    this.#maxLines = maxLines;
    this.#bytes = Buffer.allocUnsafeSlow(sizeBytes);
    this.#starts = new Uint32Array(maxLines);
    this.#lengths = new Uint32Array(maxLines);
  }

  /** The number of the oldest line; of the next one where there is none. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next line will have. */
  get end(): number {
    return this.#end;
  }

  /** One that is longer than all room is not kept. */
  add(line: string): void {
    const length = Buffer.byteLength(line);
    if (length > this.#bytes.length) return;
    if (this.#writeAt + length > this.#bytes.length) this.#wrap();
    while (this.#first < this.#end && (this.#end - this.#first === this.#maxLines || this.#isInTheWay(length))) this.#first++;
    this.#bytes.write(line, this.#writeAt);
    this.#starts[this.#end % this.#maxLines] = this.#writeAt;
    this.#lengths[this.#end % this.#maxLines] = length;
    this.#end++;
    this.#writeAt += length;
  }

  /** A copy of the lines from a number on that are still there, up to a size, but one at least; and the number that follows. */
  read(from: number, maxBytes: number): { bytes: Buffer; next: number } {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    let next = Math.max(from, this.#first);
    for (; next < this.#end; next++) {
      const part = this.#line(next);
      if (sizeBytes > 0 && sizeBytes + part.length > maxBytes) break;
      sizeBytes += part.length;
      parts.push(part);
    }
    return { bytes: Buffer.concat(parts), next };
  }

  /** What is left at the end of the memory is not used: lines that are still there have to go before the beginning is written to. */
  #wrap(): void {
    while (this.#first < this.#end && this.#starts[this.#first % this.#maxLines]! >= this.#writeAt) this.#first++;
    this.#writeAt = 0;
  }

  #isInTheWay(length: number): boolean {
    const start = this.#starts[this.#first % this.#maxLines]!;
    return start >= this.#writeAt && start < this.#writeAt + length;
  }

  #line(number: number): Buffer {
    const start = this.#starts[number % this.#maxLines]!;
    return this.#bytes.subarray(start, start + this.#lengths[number % this.#maxLines]!);
  }
}

/** Appends numbers and bytes to a buffer that grows. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(sizeBytes = 512) {
    this.#buffer = Buffer.allocUnsafe(sizeBytes);
  }

  get length(): number {
    return this.#length;
  }

  /** A whole number from 0 to 2^53, seven bits a byte, the lowest first. */
  varint(value: number): void {
    this.#reserve(8);
    while (value > 0x7f) {
      this.#buffer[this.#length++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    this.#buffer[this.#length++] = value;
  }

  raw(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#reserve(end - start);
    this.#buffer.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** With its length before it. */
  sized(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  text(value: string): void {
    this.sized(Buffer.from(value));
  }

  /** What was written. It is the writer's own until that is used again. */
  get written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(sizeBytes: number): void {
    if (this.#length + sizeBytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + sizeBytes));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads what a ByteWriter wrote. Throws where the bytes end too early. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError('a record ends too early');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  /** Shares its memory. */
  raw(sizeBytes: number): Buffer {
    const end = this.#at + sizeBytes;
    if (end > this.#bytes.length) throw new RangeError('a record ends too early');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  sized(): Buffer {
    return this.raw(this.varint());
  }

  text(): string {
    return this.sized().toString();
  }
}

/** Finds the end of a body in what arrives. */
export interface BodyReader {
  readonly isDone: boolean;
  /** Reads from `at` on, to the end of the body or of the bytes; answers where it stopped. Throws where a rule is broken. */
  read(bytes: Buffer, at: number, take: (data: Buffer) => void): number;
}

/** A body whose length was said before it; Infinity for one that ends with its connection. */
export class LengthBody implements BodyReader {
  remainingBytes: number;

  constructor(lengthBytes: number) {
    this.remainingBytes = lengthBytes;
  }

  get isDone(): boolean {
    return this.remainingBytes === 0;
  }

  read(bytes: Buffer, at: number, take: (data: Buffer) => void): number {
    const end = Math.min(bytes.length, at + this.remainingBytes);
    if (end === at) return at;
    this.remainingBytes -= end - at;
    take(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }
}

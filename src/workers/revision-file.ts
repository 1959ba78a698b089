import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/*
 * The newest revision of the primary's store, in a file that all workers have open. Whoever is told of a write finds its revision there, so that a worker
 * knows, without a question to the primary, whether it has everything that was acknowledged before a request came.
 */

/** The revision twice: one that is read while it is written differs from itself. */
const NUMBERS = 2;

export class RevisionFile {
  readonly #file: number;
  readonly #numbers = new Float64Array(NUMBERS);

  constructor(path: string, revision: number) {
    this.#file = openSync(path, 'w', 0o600);
    this.write(revision);
  }

  /** To be called before anybody hears of the revision. */
  write(revision: number): void {
    this.#numbers.fill(revision);
    writeSync(this.#file, this.#numbers, 0, this.#numbers.byteLength, 0);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Reads it: some two microseconds each time. Workers keep it open until they end. */
export function openRevision(path: string): () => number {
  const file = openSync(path, 'r');
  const numbers = new Float64Array(NUMBERS);
  return () => {
    do readSync(file, numbers, 0, numbers.byteLength, 0);
    while (numbers[0] !== numbers[1]);
    return numbers[0]!;
  };
}

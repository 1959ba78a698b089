/** Writes one after the other: at once where none is on its way, and otherwise behind those that are. */
export class LineQueue {
  #last: Promise<void> | undefined;

  /** Throws, or rejects with, what `write` does. */
  add(write: () => Promise<void> | void): Promise<void> | void {
    const written = this.#last === undefined ? write() : this.#last.then(write);
    if (!(written instanceof Promise)) return;
    const settled: Promise<void> = written.then(
      () => this.#forget(settled),
      () => this.#forget(settled),
    );
    this.#last = settled;
    return written;
  }

  /** Resolves when all that was added is written, or has failed. */
  async drain(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  #forget(settled: Promise<void>): void {
    if (this.#last === settled) this.#last = undefined;
  }
}

/** What is open while a server starts or runs, to be closed when it has stopped or could not start. */
export class Closers {
  readonly #closers: (() => void)[] = [];
  #closeStorage: () => Promise<void> = () => Promise.resolve();

  /** Called in the order in which they were added. */
  add(close: () => void): void {
    this.#closers.push(close);
  }

  /** Everything else may still write while it closes: the storage is closed behind all of it. */
  addStorage(close: () => Promise<void>): void {
    this.#closeStorage = close;
  }

  async close(): Promise<void> {
    for (const close of this.#closers) close();
    await this.#closeStorage();
  }
}

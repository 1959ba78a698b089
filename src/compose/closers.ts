/** What is open while a server starts or runs, to be closed when it has stopped or could not start. */
export class Closers {
  readonly #closers: (() => void)[] = [];
  #closeStorage: () => Promise<void> = () => Promise.resolve();
  #closeHistory: () => Promise<void> = () => Promise.resolve();

  /** Called in the order in which they were added. */
  add(close: () => void): void {
    this.#closers.push(close);
  }

  /** Everything else may still write while it closes: the storage is closed behind all of it. */
  addStorage(close: () => Promise<void>): void {
    this.#closeStorage = close;
  }

  /** The history has written everything down before the storage is closed, which keeps what it has not. */
  addHistory(close: () => Promise<void>): void {
    this.#closeHistory = close;
  }

  async close(): Promise<void> {
    for (const close of this.#closers) close();
    await this.#closeHistory();
    await this.#closeStorage();
  }
}

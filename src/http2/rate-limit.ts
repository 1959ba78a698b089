/** Counts events in windows of one second. Two numbers a connection, because every connection has some. */
export class RateLimit {
  readonly #perSecond: number;
  #windowStartMs = 0;
  #count = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts one event; false when it is one too many. */
  allow(nowMs: number): boolean {
    if (nowMs - this.#windowStartMs >= 1000) {
      this.#windowStartMs = nowMs;
      this.#count = 0;
    }
    return ++this.#count <= this.#perSecond;
  }

  /** So many more are expected, and do not count. */
  expect(count: number): void {
    this.#count -= count;
  }
}

/** Lets so many through at once, and then so many a second (client-go/util/flowcontrol). */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perSecond: number, burst: number, nowMs = performance.now()) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token, if need be one that is still to come. Answers how long until then. */
  take(nowMs = performance.now()): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledAtMs) * this.#perMs) - 1;
    this.#filledAtMs = nowMs;
    return Math.max(0, -this.#tokens / this.#perMs);
  }
}

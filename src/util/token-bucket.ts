/** Lets so many through at once, and then so many a second (client-go/util/flowcontrol). */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes a token, if need be one that is still to come. Answers how long until then. */
  take(nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens--;
    return Math.max(0, -this.#tokens / this.#perMs);
  }

  /** Whether there is a token to take. */
  hasOne(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= 1;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /** A clock that was set back brings no tokens. */
  #fill(nowMs: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
  }
}

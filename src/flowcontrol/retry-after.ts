const LONGEST_SECONDS = 32;

/**
 * How long clients of one level are told to stay away: twice as long whenever many are refused, a second less when few are
 * (apiserver/pkg/util/flowcontrol/dropped_requests_tracker.go).
 */
export class RetryAfter {
  #seconds = 1;
  #changedAt = 0;
  /** Refusals of the seconds before this one, oldest first. */
  #history: { second: number; count: number }[] = [];
  #current = { second: 0, count: 0 };

  get seconds(): number {
    return this.#seconds;
  }

  /** `second`: whole seconds of any steady clock. */
  recordRefusal(second: number): void {
    if (this.#current.second === second) {
      this.#current.count++;
      return;
    }
    this.#history.push(this.#current);
    const oldest = this.#current.second - Math.min(2 * this.#seconds, LONGEST_SECONDS);
    this.#history = this.#history.filter((past) => past.second >= oldest);
    this.#current = { second, count: 1 };
    this.#adjust(second);
  }

  #adjust(second: number): void {
    const refused = this.#history.reduce((total, past) => total + (second - past.second <= this.#seconds ? past.count : 0), 0);
    if (second - this.#changedAt >= this.#seconds && refused >= 3 * this.#seconds) {
      this.#seconds = Math.min(this.#seconds * 2, LONGEST_SECONDS);
      this.#changedAt = second;
    } else if (refused < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
  }
}

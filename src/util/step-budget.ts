/** Thrown where work that a client's input asks for has taken all the steps that it may. Whoever set the budget turns it into a Status. */
export class BudgetExceeded extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super(`exceeded a budget of ${limit} steps`);
    this.limit = limit;
  }
}

/**
 * Counts the steps of work whose amount cannot be told from the size of its input. A step is something that takes tens of nanoseconds, such as one lookup;
 * counting rather than timing makes the same request end the same way on every machine.
 */
export class StepBudget {
  readonly limit: number;
  #left: number;
  constructor(limit: number) {
    this.limit = limit;
    this.#left = limit;
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Up to the limit: of what did not fit, nothing was done. */
  get spent(): number {
    return this.limit - this.left;
  }

  /** Takes the steps before they are done. Throws BudgetExceeded where there are not so many left. */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetExceeded(this.limit);
  }
}

/** Thrown where an answer is needed that is still under way: expressions cannot wait, so they are evaluated again once it is there. */
export class Pending extends Error {
  readonly until: Promise<unknown>;

  constructor(until: Promise<unknown>) {
    super('waiting');
    this.until = until;
  }
}

/** Runs until nothing is pending. `run` has no effects before it returns. Synchronous where nothing has to be waited for. */
export function settled<T>(run: () => T): T | Promise<T> {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Pending)) throw error;
    return error.until.then(() => settled(run));
  }
}

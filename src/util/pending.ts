import { nextTurn } from './time-slice.ts';

/** Thrown where an answer is needed that is still under way: code that cannot wait is run again once it is there. */
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

/**
 * Steps of long work that `settled` runs: each is done once, in a turn of its own, and passed over when the work is run again for the next. The same steps
 * must come in the same order every time, and nobody may change what they answer with.
 */
export class Steps {
  readonly #results: unknown[] = [];
  #at = 0;
  #hasWorked = false;

  /** Called whenever the work is run. */
  begin(): void {
    this.#at = 0;
    this.#hasWorked = false;
  }

  /** Throws Pending where this run has done its step. */
  do<T>(step: () => T): T {
    const index = this.#at++;
    if (index < this.#results.length) return this.#results[index] as T;
    if (this.#hasWorked) throw new Pending(nextTurn());
    this.#hasWorked = true;
    const result = step();
    this.#results.push(result);
    return result;
  }
}

/** Answers by their question: asked once, awaited by `settled`, then there. What was refused is thrown to whoever asks again. */
export class Answers<T> {
  readonly #known = new Map<string, { value: T } | { error: unknown } | Pending>();

  /** Throws Pending where `ask` takes time and has not ended. */
  get(question: string, ask: () => T | Promise<T>): T {
    const known = this.#known.get(question);
    if (known === undefined) return this.#ask(question, ask);
    if (known instanceof Pending) throw known;
    if ('error' in known) throw known.error;
    return known.value;
  }

  #ask(question: string, ask: () => T | Promise<T>): T {
    const answer = ask();
    if (!(answer instanceof Promise)) return answer;
    const until = answer.then(
      (value) => void this.#known.set(question, { value }),
      (error: unknown) => void this.#known.set(question, { error }),
    );
    const pending = new Pending(until);
    this.#known.set(question, pending);
    throw pending;
  }
}

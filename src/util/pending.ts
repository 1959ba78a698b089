import { TimeSlice, nextTurn } from './time-slice.ts';

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

/** What a step has thrown. */
class Failure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * Steps of long work that `settled` runs: each is done once, and passed over when the work is run again after others had their turn; one that has failed throws
 * the same again. The same steps must come in the same order every time, and nobody may change what they answer with.
 */
export class Steps {
  readonly #results: unknown[] = [];
  #at = 0;
  #slice: TimeSlice | undefined;
  /** The step that is under way, of those that others have their turn in the middle of. */
  #resume: (() => unknown) | undefined;

  /** Called whenever the work is run. */
  begin(): void {
    this.#at = 0;
    this.#slice = undefined;
  }

  /** Throws Pending where this run has done a step, and its time is spent. */
  do<T>(step: () => T): T {
    const index = this.#at++;
    if (index < this.#results.length) return this.#known(index) as T;
    this.#pauseIfSpent();
    return this.#kept(step);
  }

  /**
   * A step that is long itself. `begin` is called once; what it answers with is called until it returns, and goes on where it was left: `mayPause`, which it
   * calls every now and then, throws Pending.
   */
  doResumable<T>(begin: (mayPause: () => void) => () => T): T {
    const index = this.#at++;
    if (index < this.#results.length) return this.#known(index) as T;
    this.#resume ??= begin(() => this.#pauseIfSpent());
    return this.#kept(this.#resume as () => T);
  }

  #known(index: number): unknown {
    const result = this.#results[index];
    if (result instanceof Failure) throw result.error;
    return result;
  }

  #kept<T>(step: () => T): T {
    try {
      const result = step();
      this.#results.push(result);
      this.#resume = undefined;
      return result;
    } catch (error) {
      if (error instanceof Pending) throw error;
      this.#results.push(new Failure(error));
      this.#resume = undefined;
      throw error;
    }
  }

  /** Time counts from the first step that is new: each run gets on. */
  #pauseIfSpent(): void {
    if (this.#slice === undefined) this.#slice = new TimeSlice();
    else if (this.#slice.isSpent) throw new Pending(nextTurn());
  }
}

/** Items that are changed before it is asked whether others are to have their turn. */
const ITEMS_AT_ONCE = 64;

/** Long lists whose items are changed in place by code that `settled` runs: each item once, however often that is run. */
export class ListTurns {
  readonly #done = new Map<string, number>();
  #slice: TimeSlice | undefined;

  /** Called whenever the work is run. */
  begin(): void {
    this.#slice = undefined;
  }

  /** `purpose` is what is done, and to which list. Throws Pending where this run's time is spent. */
  each<T>(purpose: string, list: readonly T[], change: (item: T, index: number) => void): void {
    for (let index = this.#done.get(purpose) ?? 0; index < list.length; index++) {
      if (index % ITEMS_AT_ONCE === 0) this.#pauseIfSpent(purpose, index);
      change(list[index]!, index);
    }
    this.#done.set(purpose, list.length);
  }

  /** Time counts from the first item that is new: each run gets on. */
  #pauseIfSpent(purpose: string, index: number): void {
    if (this.#slice === undefined) this.#slice = new TimeSlice();
    else if (this.#slice.isSpent) {
      this.#done.set(purpose, index);
      throw new Pending(nextTurn());
    }
  }
}

/** Changes every item, in turns where there are any. */
export function changeEach<T>(
  turns: ListTurns | undefined,
  purpose: string,
  list: readonly T[] | null | undefined,
  change: (item: T, index: number) => void,
): void {
  if (!list) return;
  if (turns !== undefined) turns.each(purpose, list, change);
  else for (let index = 0; index < list.length; index++) change(list[index]!, index);
}

/** A step where there are any, and what it does where there are none. */
export const inStep = <T>(steps: Steps | undefined, step: () => T): T => (steps === undefined ? step() : steps.do(step));

/** The same for a step that is long itself; see `Steps.doResumable`. */
export const inResumableStep = <T>(steps: Steps | undefined, begin: (mayPause: () => void) => () => T): T =>
  steps === undefined ? begin(() => {})() : steps.doResumable(begin);

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

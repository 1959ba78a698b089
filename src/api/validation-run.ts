import type { FieldError, FieldErrors } from './field-errors.ts';
import { Pending, settled } from '../util/pending.ts';
import { type SlicedWork, nextTurn, runAtOnce } from '../util/time-slice.ts';

/** How long a validation works before others have their turn. */
const WORK_MS = 5;
/**
 * Items of a list that are checked as one piece of work. Shorter lists are checked at once; who goes down a thousand levels, and has no room on the stack for
 * more calls a level, asks for this before calling `checkEach`.
 */
export const CHUNK_ITEMS = 50;

/**
 * A validation that may take long: of a large object, or one that compiles what it is given (CEL expressions, patterns). Validators are plain functions that
 * cannot wait, so they are run again from the start after every pause: what was done is remembered by its place in the object, passed over quickly, and only
 * the new is work.
 */
class ValidationRun {
  /** Of each pass over the object, in order: an object may be validated in two forms. */
  readonly #passes: Map<string, unknown>[] = [];
  #passCount = 0;
  #workedMs = 0;
  #unbrokenDepth = 0;

  begin(): void {
    this.#passCount = 0;
    this.#workedMs = 0;
    this.#unbrokenDepth = 0;
  }

  beginPass(): void {
    this.#passCount++;
    if (this.#passes.length < this.#passCount) this.#passes.push(new Map());
  }

  /** Does a piece of work, and counts its time. Throws Pending where the thread is others' now; in the middle of it too, unless it is to stay `unbroken`. */
  work<T>(piece: () => T, unbroken = false): T {
    if (this.#workedMs >= WORK_MS && this.#unbrokenDepth === 0) throw new Pending(nextTurn());
    const startMs = performance.now();
    if (unbroken) this.#unbrokenDepth++;
    try {
      return piece();
    } finally {
      if (unbroken) this.#unbrokenDepth--;
      this.#workedMs += performance.now() - startMs;
    }
  }

  once<T>(place: string, piece: () => T, unbroken = false): T {
    const results = this.#passes[this.#passCount - 1]!;
    if (results.has(place)) return results.get(place) as T;
    const result = this.work(piece, unbroken);
    results.set(place, result);
    return result;
  }
}

/** By the list that the errors of a pass go to. */
const runs = new WeakMap<FieldErrors['list'], ValidationRun>();

/**
 * Runs a validation until it has found all that is wrong. `validate` calls `beginPass` with the errors of each pass over the object, and `workOnce` for what
 * there is to do beside the passes: it is done once, whenever it is asked for.
 */
export function validateInSlices<T>(validate: (beginPass: (errors: FieldErrors) => void, workOnce: <R>(work: () => R) => R) => T): T | Promise<T> {
  const run = new ValidationRun();
  let done: { result: unknown } | undefined;
  const beginPass = (errors: FieldErrors): void => {
    run.beginPass();
    runs.set(errors.list, run);
  };
  const workOnce = <R>(work: () => R): R => (done ??= { result: run.work(work) }).result as R;
  return settled(() => {
    run.begin();
    return validate(beginPass, workOnce);
  });
}

/** Errors that are gathered apart, in the course of the validation that `errors` are of. */
export function gatheredApart(errors: FieldErrors, apart: FieldErrors): FieldErrors {
  const run = runs.get(errors.list);
  if (run !== undefined) runs.set(apart.list, run);
  return apart;
}

/**
 * Work of a validation that takes long: done once for the place of `errors` and this purpose, however often the validation is run, and at once where it is
 * not run in slices. It must not tell errors by itself.
 */
export function once<T>(errors: FieldErrors, purpose: string, work: () => T): T {
  const run = runs.get(errors.list);
  return run === undefined ? work() : run.once(`${errors.path} ${purpose}`, work);
}

/** The same for work that takes turns by itself: others have theirs between its steps, where the validation is run in slices. It may throw. */
export function workInSteps<T>(errors: FieldErrors, purpose: string, begin: () => SlicedWork<T>): T {
  const run = runs.get(errors.list);
  if (run === undefined) return runAtOnce(begin());
  const state = run.once<{ steps: SlicedWork<T>; ended: (() => T) | undefined }>(`${errors.path} ${purpose}`, () => ({ steps: begin(), ended: undefined }));
  while (state.ended === undefined) run.work(() => (state.ended = endOf(state.steps)));
  return state.ended();
}

/** What a step has come to: undefined where more are to follow. */
function endOf<T>(steps: SlicedWork<T>): (() => T) | undefined {
  try {
    const { done, value } = steps.next();
    return done ? () => value : undefined;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** The same for work whose result is kept elsewhere. */
export function counted<T>(errors: FieldErrors, work: () => T): T {
  const run = runs.get(errors.list);
  return run === undefined ? work() : run.work(work);
}

/** Whether the validation that `errors` are of takes turns. */
export const isInSlices = (errors: FieldErrors): boolean => runs.has(errors.list);

/**
 * Checks every item of a list that may be long, some hundreds of them at once; at once where it is not, or the validation is not run in slices. `check` does
 * nothing but tell errors, and keeps what it must know of the items before in `state`, which is answered.
 */
export function checkEach<T, State = undefined>(
  errors: FieldErrors,
  purpose: string,
  items: readonly T[],
  check: (item: T, index: number, state: State) => void,
  makeState?: () => State,
): State {
  const run = items.length <= CHUNK_ITEMS ? undefined : runs.get(errors.list);
  if (run === undefined) {
    const state = makeState?.() as State;
    for (let index = 0; index < items.length; index++) check(items[index]!, index, state);
    return state;
  }
  const path = errors.path;
  const state = run.once(`${path} ${purpose}`, () => makeState?.() as State);
  for (let start = 0; start < items.length; start += CHUNK_ITEMS) {
    const before = errors.list.length;
    const checkSome = (): readonly FieldError[] => {
      const end = Math.min(items.length, start + CHUNK_ITEMS);
      for (let index = start; index < end; index++) check(items[index]!, index, state);
      return errors.list.slice(before);
    };
    // An item that was looked at, and is looked at again, would be found twice in the state.
    const found = run.once(`${path} ${purpose} ${start}`, checkSome, makeState !== undefined);
    // In a later run they are told without being found again.
    if (errors.list.length === before) errors.list.push(...found);
  }
  return state;
}

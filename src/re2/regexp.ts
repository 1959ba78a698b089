import { goRegexpError } from './go-regexp.ts';
import { LIMITS } from '../util/limits.ts';
import { StepBudget } from '../util/step-budget.ts';
import { Automaton } from './automaton.ts';
import { RegexpError, TOO_LARGE, parsePattern, parseShape } from './parse.ts';
import { type RegexpProgram, compileProgram, programSize } from './program.ts';
import { SearchSpace, search } from './search.ts';

/** Steps of a pattern's own, for compiling it and for the states that it is found to have, by the length of the pattern. Few patterns in use need a tenth. */
const OWN_STEPS_PER_CHARACTER = 200;
/** What a long pattern has of its own is no more than some milliseconds. */
const MAX_OWN_STEPS = 200_000;

/**
 * A pattern of RE2's syntax (Go's regexp), matched without backtracking: no pattern can make a match take time beyond the product of the
 * lengths of its program and the text. The native engine never sees a user's pattern. All that takes time is counted in steps: a program is made when it is
 * first needed, so that to check a pattern takes no more than its length.
 */
export class Regexp {
  /** How much it takes of a cache. */
  readonly size: number;
  readonly #pattern: string;
  #ownStepsLeft = 0;
  #hasOwnSteps = false;
  #program: RegexpProgram | undefined;
  #automaton: Automaton | undefined;

  /** The syntax is known to be right, and the size of the program to be within bounds. */
  constructor(pattern: string, size: number) {
    this.#pattern = pattern;
    this.size = size;
  }

  /**
   * For a pattern that is written in an expression or a schema, and so compiled once for many texts: gives it steps for its program and its states, so that
   * who comes first does not pay for all. Patterns that come with the values get none, since there may be a new one for each value.
   */
  keep(): this {
    if (!this.#hasOwnSteps) this.#ownStepsLeft = Math.min(MAX_OWN_STEPS, OWN_STEPS_PER_CHARACTER * this.#pattern.length);
    this.#hasOwnSteps = true;
    return this;
  }

  /** Whether a match has been looked for before, so that what the pattern is compiled to is there. */
  get isReady(): boolean {
    return this.#automaton !== undefined;
  }

  /** Whether there is a match anywhere in the text. Throws BudgetExceeded. */
  test(text: string, budget: StepBudget = unsharedBudget()): boolean {
    return this.#withOwnSteps(budget, (steps) => this.#automatonFor(steps).test(text, steps));
  }

  /** The leftmost match, or undefined. Throws BudgetExceeded. */
  find(text: string, budget: StepBudget = unsharedBudget()): string | undefined {
    return this.#withOwnSteps(budget, (steps) => {
      const match = search(new SearchSpace(this.#programFor(steps)), text, 0, steps);
      return match && text.slice(match.start, match.end);
    });
  }

  /** Matches that do not overlap, at most `limit` of them; a negative limit is none. Throws BudgetExceeded. */
  findAll(text: string, limit: number, budget: StepBudget = unsharedBudget()): string[] {
    return this.#withOwnSteps(budget, (steps) => allMatches(this.#programFor(steps), text, limit < 0 ? Infinity : limit, steps));
  }

  /** Takes from what is the pattern's own first. It is given once: what it pays for is remembered. */
  #withOwnSteps<R>(budget: StepBudget, run: (steps: StepBudget) => R): R {
    if (this.#ownStepsLeft <= 0) return run(budget);
    const steps = new StepBudget(this.#ownStepsLeft + budget.left);
    try {
      return run(steps);
    } finally {
      const fromOutside = steps.spent - this.#ownStepsLeft;
      this.#ownStepsLeft = Math.max(0, -fromOutside);
      if (fromOutside > 0) budget.spend(Math.min(fromOutside, budget.left));
    }
  }

  #programFor(budget: StepBudget): RegexpProgram {
    if (this.#program === undefined) {
      budget.spend(this.size + this.#pattern.length);
      this.#program = compileProgram(parsePattern(this.#pattern, budget));
    }
    return this.#program;
  }

  #automatonFor(budget: StepBudget): Automaton {
    if (this.#automaton === undefined) {
      const program = this.#programFor(budget);
      budget.spend(program.steps.length);
      this.#automaton = new Automaton(program);
    }
    return this.#automaton;
  }
}

/** For one match that nobody else counts. */
const unsharedBudget = (): StepBudget => new StepBudget(LIMITS.regexpStepsOfExpression);

function allMatches(program: RegexpProgram, text: string, mostMatches: number, budget: StepBudget): string[] {
  const found: string[] = [];
  const space = new SearchSpace(program);
  let previousEnd = -1;
  for (let position = 0; position <= text.length && found.length < mostMatches;) {
    const match = search(space, text, position, budget);
    if (match === undefined) return found;
    // An empty match right behind another one does not count.
    const isAccepted = match.end !== match.start || match.start !== previousEnd;
    if (isAccepted) found.push(text.slice(match.start, match.end));
    position = match.end === position ? position + (position < text.length && text.codePointAt(position)! > 0xffff ? 2 : 1) : match.end;
    previousEnd = match.end;
  }
  return found;
}

type Compiled = Regexp | { error: string };

const cache = new Map<string, Compiled>();
const MAX_CACHED = 500;
/** Characters and steps of programs: some tens of megabytes. */
const MAX_CACHED_SIZE = 1_000_000;
let cachedSize = 0;

/** The pattern, ready to match, or Go's words for what is wrong with it. Patterns used lately are remembered. */
export function compileRegexp(pattern: string): Regexp | { error: string } {
  const known = cache.get(pattern);
  if (known !== undefined) {
    // Used last, forgotten last.
    cache.delete(pattern);
    cache.set(pattern, known);
    return known;
  }
  const compiled = compile(pattern);
  if (pattern.length <= LIMITS.regexpCharacters) {
    cache.set(pattern, compiled);
    cachedSize += cacheSizeOf(pattern, compiled);
    while (cache.size > MAX_CACHED || cachedSize > MAX_CACHED_SIZE) forgetOldest();
  }
  return compiled;
}

const cacheSizeOf = (pattern: string, compiled: Compiled): number => pattern.length + ('error' in compiled ? 0 : compiled.size);

function forgetOldest(): void {
  const [pattern, compiled] = cache.entries().next().value!;
  cache.delete(pattern);
  cachedSize -= cacheSizeOf(pattern, compiled);
}

function compile(pattern: string): Compiled {
  if (pattern.length > LIMITS.regexpCharacters) return { error: TOO_LARGE };
  const error = goRegexpError(pattern);
  if (error !== undefined) return { error };
  try {
    const size = programSize(parseShape(pattern));
    return size > LIMITS.regexpProgramSteps ? { error: TOO_LARGE } : new Regexp(pattern, size);
  } catch (problem) {
    if (problem instanceof RegexpError) return { error: problem.message };
    throw problem;
  }
}

import { goRegexpError } from '../go-regexp.ts';
import { Automaton } from './automaton.ts';
import { RegexpError, parsePattern } from './parse.ts';
import { compileProgram, type Program } from './program.ts';
import { search, type StepBudget } from './search.ts';

/** Steps that one search of all matches may take; less than a second. */
const MAX_SEARCH_STEPS = 10_000_000;

/**
 * A pattern of RE2's syntax (Go's regexp), matched without backtracking: no pattern can make a match take time beyond the product of the
 * lengths of pattern and text. The native engine never sees a user's pattern.
 */
export class Regexp {
  readonly #program: Program;
  #automaton: Automaton | undefined;

  constructor(program: Program) {
    this.#program = program;
  }

  /** Whether there is a match anywhere in the text. */
  test(text: string): boolean {
    return (this.#automaton ??= new Automaton(this.#program)).test(text);
  }

  /** The leftmost match, or undefined. Throws SearchTooLong. */
  find(text: string): string | undefined {
    const match = search(this.#program, text, 0, { left: MAX_SEARCH_STEPS });
    return match && text.slice(match.start, match.end);
  }

  /** Matches that do not overlap, at most `limit` of them; a negative limit is none. Throws SearchTooLong. */
  findAll(text: string, limit: number): string[] {
    const found: string[] = [];
    const budget: StepBudget = { left: MAX_SEARCH_STEPS };
    const mostMatches = limit < 0 ? Infinity : limit;
    let previousEnd = -1;
    for (let position = 0; position <= text.length && found.length < mostMatches;) {
      const match = search(this.#program, text, position, budget);
      if (match === undefined) return found;
      // An empty match right behind another one does not count.
      const isAccepted = match.end !== match.start || match.start !== previousEnd;
      if (isAccepted) found.push(text.slice(match.start, match.end));
      position = match.end === position ? position + (position < text.length && text.codePointAt(position)! > 0xffff ? 2 : 1) : match.end;
      previousEnd = match.end;
    }
    return found;
  }
}

const cache = new Map<string, Regexp | { error: string }>();
const MAX_CACHED = 500;
const MAX_CACHED_LENGTH = 1_000;

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
  if (pattern.length <= MAX_CACHED_LENGTH) {
    if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
    cache.set(pattern, compiled);
  }
  return compiled;
}

function compile(pattern: string): Regexp | { error: string } {
  const error = goRegexpError(pattern);
  if (error !== undefined) return { error };
  try {
    return new Regexp(compileProgram(parsePattern(pattern)));
  } catch (problem) {
    if (problem instanceof RegexpError) return { error: problem.message };
    throw problem;
  }
}

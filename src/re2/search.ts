import type { StepBudget } from '../util/step-budget.ts';
import { has } from './char-set.ts';
import { holds, type RegexpProgram, type AdjacentCharacters } from './program.ts';

/** Where a match is, in UTF-16 units. */
export interface Match {
  start: number;
  end: number;
}

/** What searches of one program need, made once for many of them: it is as large as the program. */
export class SearchSpace {
  readonly program: RegexpProgram;
  current: Threads;
  next: Threads;

  constructor(program: RegexpProgram) {
    this.program = program;
    this.current = new Threads(program.steps.length);
    this.next = new Threads(program.steps.length);
  }

  clear(): void {
    this.current.clear();
    this.next.clear();
  }
}

/** Steps that the program is at, in the order of preference, with where their matches began. */
class Threads {
  /** How many there are. What the lists hold behind them is of former steps: to cut lists off took a quarter of a search. */
  count = 0;
  readonly places: number[] = [];
  readonly starts: number[] = [];
  /** Steps that are still to be followed. */
  readonly pending: number[] = [];
  readonly #generation: Uint32Array;
  #current = 1;

  constructor(size: number) {
    this.#generation = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#current++;
  }

  add(place: number, start: number): void {
    this.places[this.count] = place;
    this.starts[this.count++] = start;
  }

  /** False where the step is there already. */
  mark(place: number): boolean {
    if (this.#generation[place] === this.#current) return false;
    this.#generation[place] = this.#current;
    return true;
  }
}

/** What a search takes before it has read anything: texts have room for hundreds of thousands of matches. */
const STEPS_OF_A_SEARCH = 20;

/** The match that starts first, and of those the one that the pattern prefers, at or after `from` (Pike's machine). Throws BudgetExceeded: patterns that look far ahead at every place take time quadratic in the text. */
export function search(space: SearchSpace, text: string, from: number, budget: StepBudget): Match | undefined {
  const { program } = space;
  const { steps } = program;
  budget.spend(STEPS_OF_A_SEARCH);
  space.clear();
  let { current, next } = space;
  let match: Match | undefined;
  let previous = from === 0 ? undefined : codePointBefore(text, from);
  for (let index = from; ;) {
    const code = index < text.length ? text.codePointAt(index)! : undefined;
    const adjacent = { previous, next: code };
    if (match === undefined && (!program.isAnchored || index === 0)) enter(program, current, program.start, index, adjacent, budget);
    if (current.count === 0 && (match !== undefined || program.isAnchored)) return match;
    budget.spend(1 + current.count);
    const width = code === undefined || code <= 0xffff ? 1 : 2;
    const following = { previous: code, next: index + width < text.length ? text.codePointAt(index + width)! : undefined };
    for (let thread = 0; thread < current.count; thread++) {
      const step = steps[current.places[thread]!]!;
      if (step.op === 'match') {
        match = { start: current.starts[thread]!, end: index };
        // Threads further down are liked less.
        break;
      }
      if (step.op === 'chars' && code !== undefined && has(step.set, code)) enter(program, next, step.next, current.starts[thread]!, following, budget);
    }
    if (code === undefined) return match;
    current.clear();
    [current, next] = [next, current];
    previous = code;
    index += width;
  }
}

/** Adds a step and all that it leads to without reading, in the order of preference. */
function enter({ steps }: RegexpProgram, threads: Threads, place: number, start: number, adjacent: AdjacentCharacters, budget: StepBudget): void {
  const { pending } = threads;
  for (let at: number | undefined = place; at !== undefined; at = pending.pop()) {
    budget.spend();
    if (!threads.mark(at)) continue;
    const step = steps[at]!;
    if (step.op === 'split') pending.push(step.other, step.next);
    else if (step.op === 'assert') {
      if (holds(step.assertion, adjacent)) pending.push(step.next);
    } else threads.add(at, start);
  }
}

function codePointBefore(text: string, index: number): number {
  const unit = text.charCodeAt(index - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && index > 1 ? text.codePointAt(index - 2)! : unit;
}

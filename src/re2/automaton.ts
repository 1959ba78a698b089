import type { StepBudget } from '../util/step-budget.ts';
import { WORD_CHARS, has, type CharSet } from './char-set.ts';
import { holds, type RegexpProgram, type AdjacentCharacters } from './program.ts';

/** A set of steps that the program may be at, before a character is read. */
interface State {
  readonly places: readonly number[];
  /** Any code point of the class that was read last. */
  readonly previous: number | undefined;
  /** By the class of the next character; the last one is for the end of the text. */
  readonly transitions: (State | undefined)[];
}

/** Answers: a match was found, or none can be any more. */
const MATCHED: State = { places: [], previous: undefined, transitions: [] };
const FAILED: State = { places: [], previous: undefined, transitions: [] };

const ASCII = 128;
/** How many transitions, and places of states, are remembered before all are forgotten: a bound on memory, not on what can be matched. */
const MAX_REMEMBERED = 100_000;

/**
 * Says whether a text has a match anywhere, in one look at each character: sets of steps are made into states when they are first met. Reading a character
 * in a known state costs nothing that is counted; making a state costs as many steps as the program can be at.
 */
export class Automaton {
  readonly #program: RegexpProgram;
  /** First code points of classes: characters between two of them are all the same to the program. */
  readonly #boundaries: readonly number[];
  readonly #asciiClasses: Uint16Array;
  readonly #reached: PlaceSet;
  readonly #next: PlaceSet;
  #states = new Map<string, State>();
  #remembered = 0;
  #start: State | undefined;

  constructor(program: RegexpProgram) {
    this.#program = program;
    this.#boundaries = classBoundaries(program);
    this.#asciiClasses = Uint16Array.from({ length: ASCII }, (_, code) => this.#searchClass(code));
    this.#reached = new PlaceSet(program.steps.length);
    this.#next = new PlaceSet(program.steps.length);
  }

  /** Throws BudgetExceeded. */
  test(text: string, budget: StepBudget): boolean {
    let state = (this.#start ??= this.#stateOf([this.#program.start], undefined));
    for (let index = 0; index < text.length; index++) {
      let code = text.charCodeAt(index);
      if (code >= 0xd800 && code <= 0xdbff) {
        code = text.codePointAt(index)!;
        if (code > 0xffff) index++;
      }
      const charClass = code < ASCII ? this.#asciiClasses[code]! : this.#searchClass(code);
      state = state.transitions[charClass] ?? this.#advance(state, charClass, code, budget);
      if (state === MATCHED) return true;
      if (state === FAILED) return false;
    }
    return (state.transitions[this.#boundaries.length] ?? this.#advance(state, this.#boundaries.length, undefined, budget)) === MATCHED;
  }

  #searchClass(code: number): number {
    let low = 0;
    let high = this.#boundaries.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#boundaries[middle]! <= code) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #stateOf(places: readonly number[], previous: number | undefined): State {
    const key = `${previous ?? ''}:${places.join(',')}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#remembered += places.length + this.#boundaries.length;
    if (this.#remembered > MAX_REMEMBERED) {
      this.#states = new Map();
      this.#start = undefined;
      this.#remembered = places.length + this.#boundaries.length;
    }
    const state: State = { places, previous, transitions: Array.from({ length: this.#boundaries.length + 1 }, () => undefined) };
    this.#states.set(key, state);
    return state;
  }

  #advance(state: State, charClass: number, code: number | undefined, budget: StepBudget): State {
    const { steps, isAnchored, start, hasAssertions } = this.#program;
    const next = this.#next.emptied();
    let isMatched = false;
    for (const place of this.#follow(state.places, { previous: state.previous, next: code }, budget)) {
      const step = steps[place]!;
      if (step.op === 'match') isMatched = true;
      else if (step.op === 'chars' && code !== undefined && has(step.set, code)) next.add(step.next);
    }
    if (!isAnchored) next.add(start);
    // A state's name and its transitions are made of all its places, and of all classes.
    budget.spend(2 * next.places.length + (this.#boundaries.length >> 3));
    // Only assertions ask what was read before; without them states differ by their steps alone.
    const previous = hasAssertions && code !== undefined ? this.#boundaries[charClass]! : hasAssertions ? undefined : -1;
    const target = isMatched
      ? MATCHED
      : next.places.length === 0 || code === undefined
        ? FAILED
        : this.#stateOf(
            next.places.toSorted((a, b) => a - b),
            previous,
          );
    state.transitions[charClass] = target;
    return target;
  }

  /** All steps that can be reached without reading a character. */
  #follow(places: readonly number[], adjacent: AdjacentCharacters, budget: StepBudget): readonly number[] {
    const { steps } = this.#program;
    const reached = this.#reached.emptied();
    const pending = [...places];
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      budget.spend();
      if (!reached.add(place)) continue;
      const step = steps[place]!;
      if (step.op === 'split') pending.push(step.next, step.other);
      else if (step.op === 'assert' && holds(step.assertion, adjacent)) pending.push(step.next);
    }
    return reached.places;
  }
}

/** A set of a program's steps that is emptied at once. */
class PlaceSet {
  places: number[] = [];
  readonly #generation: Uint32Array;
  #current = 0;

  constructor(size: number) {
    this.#generation = new Uint32Array(size);
  }

  emptied(): this {
    this.places = [];
    this.#current++;
    return this;
  }

  /** False where it is there already. */
  add(place: number): boolean {
    if (this.#generation[place] === this.#current) return false;
    this.#generation[place] = this.#current;
    this.places.push(place);
    return true;
  }
}

const NEWLINE = 10;

function classBoundaries({ steps, hasAssertions }: RegexpProgram): readonly number[] {
  const boundaries = new Set([0]);
  const sets = new Set<CharSet>();
  for (const step of steps) if (step.op === 'chars') sets.add(step.set);
  if (hasAssertions) sets.add([NEWLINE, NEWLINE]).add(WORD_CHARS);
  for (const set of sets) for (const [index, end] of set.entries()) boundaries.add(index % 2 === 0 ? end : end + 1);
  return Array.from(boundaries).toSorted((a, b) => a - b);
}

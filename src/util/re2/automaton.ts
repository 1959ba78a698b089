import { WORD_CHARS, has, type CharSet } from './char-set.ts';
import { holds, type Program, type Step, type Surroundings } from './program.ts';

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
/** How many transitions are remembered before all are forgotten: a bound on memory, not on what can be matched. */
const MAX_TRANSITIONS = 200_000;

/**
 * Says whether a text has a match anywhere, in one look at each character: sets of steps are made into states when they are first met. Takes time
 * linear in the text whatever the pattern is.
 */
export class Automaton {
  readonly #program: Program;
  /** First code points of classes: characters between two of them are all the same to the program. */
  readonly #boundaries: readonly number[];
  readonly #asciiClasses: Uint16Array;
  #states = new Map<string, State>();
  #start: State | undefined;

  constructor(program: Program) {
    this.#program = program;
    this.#boundaries = classBoundaries(program);
    this.#asciiClasses = Uint16Array.from({ length: ASCII }, (_, code) => this.#searchClass(code));
  }

  test(text: string): boolean {
    let state = (this.#start ??= this.#stateOf([this.#program.start], undefined));
    for (let index = 0; index < text.length; index++) {
      let code = text.charCodeAt(index);
      if (code >= 0xd800 && code <= 0xdbff) {
        code = text.codePointAt(index)!;
        if (code > 0xffff) index++;
      }
      const charClass = code < ASCII ? this.#asciiClasses[code]! : this.#searchClass(code);
      state = state.transitions[charClass] ?? this.#advance(state, charClass, code);
      if (state === MATCHED) return true;
      if (state === FAILED) return false;
    }
    return (state.transitions[this.#boundaries.length] ?? this.#advance(state, this.#boundaries.length, undefined)) === MATCHED;
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
    if (this.#states.size * this.#boundaries.length > MAX_TRANSITIONS) {
      this.#states = new Map();
      this.#start = undefined;
    }
    const state: State = { places, previous, transitions: Array.from({ length: this.#boundaries.length + 1 }, () => undefined) };
    this.#states.set(key, state);
    return state;
  }

  #advance(state: State, charClass: number, code: number | undefined): State {
    const surroundings = { previous: state.previous, next: code };
    const reached = new Set<number>();
    const next = new Set<number>();
    let isMatched = false;
    follow(this.#program.steps, state.places, surroundings, reached);
    for (const place of reached) {
      const step = this.#program.steps[place]!;
      if (step.op === 'match') isMatched = true;
      else if (step.op === 'chars' && code !== undefined && has(step.set, code)) next.add(step.next);
    }
    if (!this.#program.isAnchored) next.add(this.#program.start);
    // Only assertions ask what was read before; without them states differ by their steps alone.
    const previous = this.#program.hasAssertions && code !== undefined ? this.#boundaries[charClass]! : this.#program.hasAssertions ? undefined : -1;
    const target = isMatched
      ? MATCHED
      : next.size === 0 || code === undefined
        ? FAILED
        : this.#stateOf(
            Array.from(next).toSorted((a, b) => a - b),
            previous,
          );
    state.transitions[charClass] = target;
    return target;
  }
}

/** All steps that can be reached without reading a character. */
function follow(steps: readonly Step[], places: readonly number[], surroundings: Surroundings, reached: Set<number>): void {
  const pending = [...places];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (reached.has(place)) continue;
    reached.add(place);
    const step = steps[place]!;
    if (step.op === 'split') pending.push(step.next, step.other);
    else if (step.op === 'assert' && holds(step.assertion, surroundings)) pending.push(step.next);
  }
}

const NEWLINE = 10;

function classBoundaries({ steps, hasAssertions }: Program): readonly number[] {
  const boundaries = new Set([0]);
  const sets = new Set<CharSet>(steps.flatMap((step) => (step.op === 'chars' ? [step.set] : [])));
  if (hasAssertions) sets.add([NEWLINE, NEWLINE]).add(WORD_CHARS);
  for (const set of sets) for (const [index, end] of set.entries()) boundaries.add(index % 2 === 0 ? end : end + 1);
  return Array.from(boundaries).toSorted((a, b) => a - b);
}

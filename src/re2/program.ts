import type { Assertion, Node } from './parse.ts';
import type { CharSet } from './char-set.ts';

/** One step of a machine that is in many states at once (Thompson). `next` and `other` are places of steps. */
export type Step =
  | { op: 'chars'; set: CharSet; next: number }
  /** `next` is preferred. */
  | { op: 'split'; next: number; other: number }
  | { op: 'assert'; assertion: Assertion; next: number }
  | { op: 'match' };

export interface RegexpProgram {
  readonly steps: readonly Step[];
  readonly start: number;
  /** Whether a match can only begin at the beginning of the text. */
  readonly isAnchored: boolean;
  readonly hasAssertions: boolean;
}

/**
 * At least as many as compiling the tree takes steps, and as its program has. Counted before it is compiled: a repetition of a repetition is short to write.
 * Parts that compile to nothing count too, since they are visited as often as they are repeated.
 */
export function programSize(tree: Node): number {
  switch (tree.op) {
    case 'concat':
    case 'alternate':
      return tree.nodes.reduce((size, node) => size + programSize(node) + 1, 1);
    case 'repeat': {
      const count = tree.max === Infinity ? tree.min : tree.max;
      return Math.max(count, 1) * (programSize(tree.node) + 1) + 2;
    }
    default:
      return 1;
  }
}

/** Whoever calls it has looked at the size. */
export function compileProgram(tree: Node): RegexpProgram {
  const compiler = new Compiler();
  const start = compiler.compile(tree, compiler.add({ op: 'match' }));
  return { steps: compiler.steps, start, isAnchored: beginsAtStart(tree), hasAssertions: compiler.steps.some((step) => step.op === 'assert') };
}

function beginsAtStart(node: Node): boolean {
  if (node.op === 'assert') return node.assertion === 'beginText';
  if (node.op === 'concat') return node.nodes.length > 0 && beginsAtStart(node.nodes[0]!);
  return node.op === 'alternate' && node.nodes.every(beginsAtStart);
}

class Compiler {
  readonly steps: Step[] = [];
  readonly #nullable = new Map<Node, boolean>();

  add(step: Step): number {
    this.steps.push(step);
    return this.steps.length - 1;
  }

  /** Where the node begins, if `next` is what comes after it. */
  compile(node: Node, next: number): number {
    switch (node.op) {
      case 'empty':
        return next;
      case 'chars':
        return this.add({ op: 'chars', set: node.set, next });
      case 'assert':
        return this.add({ op: 'assert', assertion: node.assertion, next });
      case 'concat':
        return node.nodes.reduceRight((after, part) => this.compile(part, after), next);
      case 'alternate':
        return node.nodes.map((alternative) => this.compile(alternative, next)).reduceRight((other, start) => this.add({ op: 'split', next: start, other }));
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat({ node, min, max, isGreedy }: Extract<Node, { op: 'repeat' }>, next: number): number {
    let start = next;
    if (max === Infinity) start = this.#loop(node, isGreedy, next, min > 0);
    else for (let count = min; count < max; count++) start = this.#split(this.compile(node, start), next, isGreedy);
    for (let count = max === Infinity ? 1 : 0; count < min; count++) start = this.compile(node, start);
    return start;
  }

  /** Whether it can match without reading anything. Remembered: parts of repetitions are compiled, and asked about, many times. */
  #isNullable(node: Node): boolean {
    let isNullable = this.#nullable.get(node);
    if (isNullable === undefined) this.#nullable.set(node, (isNullable = this.#canBeEmpty(node)));
    return isNullable;
  }

  #canBeEmpty(node: Node): boolean {
    switch (node.op) {
      case 'chars':
        return false;
      case 'concat':
        return node.nodes.every((part) => this.#isNullable(part));
      case 'alternate':
        return node.nodes.some((part) => this.#isNullable(part));
      case 'repeat':
        return node.min === 0 || this.#isNullable(node.node);
      default:
        return true;
    }
  }

  /** `x*`, or `x+` where it begins with the body. */
  #loop(node: Node, isGreedy: boolean, next: number, beginsWithBody: boolean): number {
    const split = this.add({ op: 'split', next, other: next });
    const body = this.compile(node, split);
    this.steps[split] = isGreedy ? { op: 'split', next: body, other: next } : { op: 'split', next, other: body };
    if (beginsWithBody) return body;
    // A body that may match nothing is preferred in another order: golang.org/issue/46123.
    return this.#isNullable(node) ? this.#split(body, next, isGreedy) : split;
  }

  #split(body: number, next: number, isGreedy: boolean): number {
    return this.add(isGreedy ? { op: 'split', next: body, other: next } : { op: 'split', next, other: body });
  }
}

/** What is known of a place between two characters; undefined for none. */
export interface AdjacentCharacters {
  previous: number | undefined;
  next: number | undefined;
}

const NEWLINE = 10;

export function holds(assertion: Assertion, { previous, next }: AdjacentCharacters): boolean {
  switch (assertion) {
    case 'beginText':
      return previous === undefined;
    case 'endText':
      return next === undefined;
    case 'beginLine':
      return previous === undefined || previous === NEWLINE;
    case 'endLine':
      return next === undefined || next === NEWLINE;
    case 'wordBoundary':
      return isWordChar(previous) !== isWordChar(next);
    case 'noWordBoundary':
      return isWordChar(previous) === isWordChar(next);
  }
}

export const isWordChar = (code: number | undefined): boolean =>
  code !== undefined && ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95);

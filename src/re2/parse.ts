import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, type StepBudget } from '../util/step-budget.ts';
import {
  ANY,
  ANY_BUT_NEWLINE,
  BLANKS,
  DIGITS,
  POSIX_CLASSES,
  WORD_CHARS,
  charSet,
  foldCase,
  foldingSteps,
  isKnownClass,
  negate,
  rangesOf,
  unicodeClass,
  type CharSet,
} from './char-set.ts';

/** What must hold between two characters. */
export type Assertion = 'beginText' | 'endText' | 'beginLine' | 'endLine' | 'wordBoundary' | 'noWordBoundary';

/** A regular expression as a tree. Groups that capture are as any others: only whole matches are asked for. */
export type Node =
  | { op: 'empty' }
  | { op: 'chars'; set: CharSet }
  | { op: 'assert'; assertion: Assertion }
  | { op: 'concat'; nodes: readonly Node[] }
  | { op: 'alternate'; nodes: readonly Node[] }
  /** `max` is Infinity for no limit. */
  | { op: 'repeat'; node: Node; min: number; max: number; isGreedy: boolean };

/** Text that no tree is made of; the message is that of Go's regexp/syntax. */
export class RegexpError extends Error {}

export const TOO_LARGE = 'error parsing regexp: expression too large: ``';

interface Flags {
  ignoresCase: boolean;
  isMultiline: boolean;
  dotMatchesNewline: boolean;
  isLazy: boolean;
}

const NO_FLAGS: Flags = { ignoresCase: false, isMultiline: false, dotMatchesNewline: false, isLazy: false };
const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = { i: 'ignoresCase', m: 'isMultiline', s: 'dotMatchesNewline', U: 'isLazy' };
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
/** As regexp/syntax: repetitions inside of repetitions multiply. */
const MAX_REPEAT = 1000;

/** The pattern's syntax is known to be right (go-regexp.ts). Throws RegexpError for repetitions that multiply too far, BudgetExceeded for too many classes. */
export function parsePattern(pattern: string, budget: StepBudget): Node {
  return new PatternParser(Array.from(withoutQuoting(pattern)), { budget, ranges: 0 }).alternation(NO_FLAGS);
}

/** The same with empty classes: all that is needed to know how large the program will be, at a cost that the pattern's length bounds. */
export function parseShape(pattern: string): Node {
  return new PatternParser(Array.from(withoutQuoting(pattern)), undefined).alternation(NO_FLAGS);
}

/** What making classes of characters may still take. */
interface ClassBudget {
  budget: StepBudget;
  /** How many there are so far. */
  ranges: number;
}

/** `\d`, or `\D` with `isNegated`. */
interface SignedClass {
  set: CharSet;
  isNegated: boolean;
}

const NO_CHARS: CharSet = [];
const SIMPLE_BOUNDS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['*', [0, Infinity]],
  ['+', [1, Infinity]],
  ['?', [0, 1]],
]);
/** A class that nobody asked for before takes as long as so many steps. */
const NEW_CLASS_STEPS = 50_000;

/** `\Q…\E` with every character escaped by its number, so that repetitions after it mean the last one. */
const withoutQuoting = (pattern: string): string =>
  pattern.replaceAll(/\\Q([^]*?)(?:\\E|$)|\\[^]/g, (whole, quoted?: string) =>
    quoted === undefined ? whole : Array.from(quoted, (char) => `\\x{${char.codePointAt(0)!.toString(16)}}`).join(''),
  );

class PatternParser {
  readonly #chars: readonly string[];
  /** Undefined where classes are not made. */
  readonly #classes: ClassBudget | undefined;
  readonly #repeatSizes = new Map<Node, number>();
  #position = 0;

  constructor(chars: readonly string[], classes: ClassBudget | undefined) {
    this.#chars = chars;
    this.#classes = classes;
  }

  #made(set: CharSet, flags: Flags): CharSet {
    if (this.#classes === undefined) return NO_CHARS;
    this.#countRanges(set.length / 2);
    if (!flags.ignoresCase) return set;
    this.#classes.budget.spend(foldingSteps(set));
    return foldCase(set);
  }

  /** Other cases are added before a class is negated, not after it (regexp/syntax, appendGroup). */
  #signed({ set, isNegated }: SignedClass, flags: Flags): CharSet {
    const made = this.#made(set, flags);
    return isNegated && this.#classes !== undefined ? negate(made) : made;
  }

  #countRanges(ranges: number): void {
    if (this.#classes === undefined) return;
    this.#classes.budget.spend(ranges);
    this.#classes.ranges += ranges;
    if (this.#classes.ranges > LIMITS.regexpClassRanges) throw new BudgetExceeded(LIMITS.regexpClassRanges);
  }

  #literal(char: string, flags: Flags): Node {
    const code = char.codePointAt(0)!;
    return chars(this.#made([code, code], flags));
  }

  get #char(): string | undefined {
    return this.#chars[this.#position];
  }

  #startsWith(text: string): boolean {
    return Array.from(text).every((char, index) => this.#chars[this.#position + index] === char);
  }

  /** Up to the end or to the parenthesis that closes the group. Flags set inside hold to its end. */
  alternation(outerFlags: Flags): Node {
    const alternatives: Node[][] = [[]];
    let flags = outerFlags;
    while (this.#char !== undefined && this.#char !== ')') {
      if (this.#char === '|') {
        this.#position++;
        alternatives.push([]);
        continue;
      }
      const parts = alternatives.at(-1)!;
      const changed = this.#flagGroup(flags);
      // A repetition behind flags repeats what is before them.
      const node = changed === undefined ? this.#atom(flags) : parts.pop();
      flags = changed ?? flags;
      if (node !== undefined) parts.push(this.#repeated(node, flags));
    }
    const nodes = alternatives.map((parts): Node => (parts.length === 1 ? parts[0]! : parts.length === 0 ? { op: 'empty' } : { op: 'concat', nodes: parts }));
    return nodes.length === 1 ? nodes[0]! : { op: 'alternate', nodes };
  }

  /** `(?i)`: the flags from here on. */
  #flagGroup(flags: Flags): Flags | undefined {
    if (this.#char !== '(') return undefined;
    const text = this.#chars.slice(this.#position, this.#position + 12).join('');
    const match = /^\(\?([imsU]*(?:-[imsU]+)?)\)/.exec(text);
    if (match === null) return undefined;
    this.#position += match[0].length;
    return withFlags(flags, match[1]!);
  }

  #repeated(atom: Node, flags: Flags): Node {
    let node = atom;
    for (let start = this.#position, bounds = this.#bounds(); bounds !== undefined; start = this.#position, bounds = this.#bounds()) {
      const [min, max] = bounds;
      const isMarkedLazy = this.#char === '?';
      if (isMarkedLazy) this.#position++;
      node = { op: 'repeat', node, min, max, isGreedy: isMarkedLazy === flags.isLazy };
      if (this.#chars[start] === '{' && this.#repeatSize(node) > MAX_REPEAT)
        throw new RegexpError(`error parsing regexp: invalid repeat count: \`${this.#chars.slice(start, this.#position).join('')}\``);
    }
    return node;
  }

  #bounds(): readonly [number, number] | undefined {
    const simple = SIMPLE_BOUNDS.get(this.#char ?? '');
    if (simple !== undefined) {
      this.#position++;
      return simple;
    }
    if (this.#char !== '{') return undefined;
    const [min, minEnd] = this.#number(this.#position + 1);
    if (min === undefined) return undefined;
    const hasComma = this.#chars[minEnd] === ',';
    const [max, end] = hasComma ? this.#number(minEnd + 1) : [min, minEnd];
    // A brace that does not count is a character like any other.
    if (this.#chars[end] !== '}') return undefined;
    this.#position = end + 1;
    return [min, max ?? Infinity];
  }

  /** The digits that stand here, and where they end. No count that the syntax allows has more than four. */
  #number(from: number): [number | undefined, number] {
    let at = from;
    let value = 0;
    for (; at < from + 9; at++) {
      const digit = (this.#chars[at] ?? ' ').charCodeAt(0) - 48;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    return [at === from ? undefined : value, at];
  }

  #atom(flags: Flags): Node {
    const char = this.#char!;
    switch (char) {
      case '(':
        return this.#group(flags);
      case '[':
        return chars(this.#class(flags));
      case '.':
        this.#position++;
        return chars(flags.dotMatchesNewline ? ANY : ANY_BUT_NEWLINE);
      case '^':
        this.#position++;
        return { op: 'assert', assertion: flags.isMultiline ? 'beginLine' : 'beginText' };
      case '$':
        this.#position++;
        return { op: 'assert', assertion: flags.isMultiline ? 'endLine' : 'endText' };
      case '\\':
        return this.#escape(flags);
      default:
        this.#position++;
        return this.#literal(char, flags);
    }
  }

  /** How often the innermost part is repeated at most. Remembered, because each repetition around others asks for theirs. */
  #repeatSize(node: Node): number {
    let size = this.#repeatSizes.get(node);
    if (size === undefined) this.#repeatSizes.set(node, (size = this.#countRepeats(node)));
    return size;
  }

  #countRepeats(node: Node): number {
    switch (node.op) {
      case 'repeat': {
        const isCounted = node.max !== 1 && !(node.max === Infinity && node.min <= 1);
        const count = isCounted ? Math.max(node.max === Infinity ? node.min : node.max, 1) : 1;
        return count * this.#repeatSize(node.node);
      }
      case 'concat':
      case 'alternate':
        return node.nodes.reduce((most, part) => Math.max(most, this.#repeatSize(part)), 1);
      default:
        return 1;
    }
  }

  #group(flags: Flags): Node {
    const text = this.#chars.slice(this.#position, this.#position + 200).join('');
    const head = /^\((?:\?(?:P?<[A-Za-z0-9_]+>|([imsU]*(?:-[imsU]+)?):))?/.exec(text)!;
    this.#position += head[0].length;
    const node = this.alternation(head[1] === undefined ? flags : withFlags(flags, head[1]));
    this.#position++;
    return node;
  }

  #escape(flags: Flags): Node {
    const assertion = ({ A: 'beginText', z: 'endText', b: 'wordBoundary', B: 'noWordBoundary' } as const)[this.#chars[this.#position + 1]!];
    if (assertion !== undefined) {
      this.#position += 2;
      return { op: 'assert', assertion };
    }
    const escaped = this.#escapedClass();
    if (escaped !== undefined) return chars(this.#signed(escaped, flags));
    return this.#literal(String.fromCodePoint(this.#escapedChar()), flags);
  }

  /** `\d`, `\pL`, `\P{Greek}` and their like. */
  #escapedClass(): SignedClass | undefined {
    const letter = this.#chars[this.#position + 1]!;
    const perl = ({ d: DIGITS, s: BLANKS, w: WORD_CHARS } as Record<string, CharSet>)[letter.toLowerCase()];
    if (perl !== undefined) {
      this.#position += 2;
      return { set: perl, isNegated: letter !== letter.toLowerCase() };
    }
    if (letter !== 'p' && letter !== 'P') return undefined;
    const match = /^\\[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Za-z]))/.exec(this.#chars.slice(this.#position, this.#position + 100).join(''))!;
    this.#position += match[0].length;
    const name = match[2] ?? match[3]!;
    const isNegated = (letter === 'P') !== (match[1] === '^');
    if (this.#classes === undefined) return { set: NO_CHARS, isNegated };
    if (!isKnownClass(name)) this.#classes.budget.spend(NEW_CLASS_STEPS);
    return { set: unicodeClass(name), isNegated };
  }

  #escapedChar(): number {
    const text = this.#chars.slice(this.#position, this.#position + 13).join('');
    const hex = /^\\x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})/.exec(text);
    const octal = /^\\[0-7]{1,3}/.exec(text);
    this.#position += hex?.[0].length ?? octal?.[0].length ?? 2;
    if (hex !== null) return Number.parseInt(hex[1] ?? hex[2]!, 16);
    if (octal !== null) return Number.parseInt(octal[0].slice(1), 8);
    const char = Array.from(text)[1]!;
    return CONTROLS[char] ?? char.codePointAt(0)!;
  }

  #class(flags: Flags): CharSet {
    this.#position++;
    const isNegated = this.#char === '^';
    if (isNegated) this.#position++;
    const ranges: [number, number][] = [];
    /** Of negated classes, which have their other cases already. */
    const complete: [number, number][] = [];
    for (let isFirst = true; isFirst || this.#char !== ']'; isFirst = false) {
      const { set, isNegated: isItemNegated } = this.#classItem();
      const item = rangesOf(isItemNegated ? this.#signed({ set, isNegated: true }, flags) : set);
      this.#countRanges(item.length);
      for (const range of item) (isItemNegated ? complete : ranges).push(range);
    }
    this.#position++;
    if (this.#classes === undefined) return NO_CHARS;
    const folded = this.#made(charSet(ranges), flags);
    const set = complete.length === 0 ? folded : charSet([...rangesOf(folded), ...complete]);
    return isNegated ? negate(set) : set;
  }

  #classItem(): SignedClass {
    const posix =
      this.#char === '[' && this.#startsWith('[:') ? /^\[:(\^?)([a-z]+):\]/.exec(this.#chars.slice(this.#position, this.#position + 12).join('')) : null;
    if (posix !== null) {
      this.#position += posix[0].length;
      return { set: POSIX_CLASSES[posix[2]!]!, isNegated: posix[1] === '^' };
    }
    const escaped = this.#char === '\\' ? this.#escapedClass() : undefined;
    if (escaped !== undefined) return escaped;
    const low = this.#classChar();
    if (this.#char !== '-' || this.#chars[this.#position + 1] === ']') return { set: [low, low], isNegated: false };
    this.#position++;
    return { set: [low, this.#classChar()], isNegated: false };
  }

  #classChar(): number {
    if (this.#char === '\\') return this.#escapedChar();
    return this.#chars[this.#position++]!.codePointAt(0)!;
  }
}

const chars = (set: CharSet): Node => ({ op: 'chars', set });

function withFlags(flags: Flags, text: string): Flags {
  const [on = '', off = ''] = text.split('-');
  const changed = { ...flags };
  for (const letter of on) changed[FLAG_NAMES[letter]!] = true;
  for (const letter of off) changed[FLAG_NAMES[letter]!] = false;
  return changed;
}

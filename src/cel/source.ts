import type { Offset } from './ast.ts';

/** Where an error has no place in the text. */
export const NOWHERE: Offset = -1;

/** One thing that is wrong with an expression. */
export interface CelIssue {
  readonly offset: Offset;
  readonly message: string;
}

/** The text of an expression with its lines, for positions in messages. */
export class Source {
  readonly codePoints: readonly string[];
  /** What messages call it. */
  readonly name: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string, name = '<input>') {
    this.codePoints = Array.from(text);
    this.name = name;
    for (const [index, char] of this.codePoints.entries()) if (char === '\n') this.#lineStarts.push(index + 1);
  }

  /** Lines count from one, columns from zero; nowhere is line -1. */
  locate(offset: Offset): { line: number; column: number } {
    if (offset === NOWHERE) return { line: -1, column: -1 };
    // What is empty has no first line to show, and its end stands before it.
    if (this.codePoints.length === 0) return { line: 1, column: -1 };
    let [line, beyond] = [1, this.#lineStarts.length + 1];
    while (beyond - line > 1) {
      const middle = (line + beyond) >> 1;
      if (this.#lineStarts[middle - 1]! > offset) beyond = middle;
      else line = middle;
    }
    return { line, column: offset - this.#lineStarts[line - 1]! };
  }

  /** The characters of a line; undefined where there is no such line, or where it has more than so many. */
  line(number: number, maxCharacters: number): readonly string[] | undefined {
    const start = this.#lineStarts[number - 1];
    if (start === undefined || this.codePoints.length === 0) return undefined;
    const next = this.#lineStarts[number];
    const end = next === undefined ? this.codePoints.length : next - 1;
    return end - start > maxCharacters ? undefined : this.codePoints.slice(start, end);
  }
}

const MAX_SNIPPET_BYTES = 16_384;
const MAX_ISSUES = 100;
const WIDE_DOT = '\uff0e';
const WIDE_CARET = '\uff3e';

/** Expressions that do not parse or check. The message is that of cel-go, with the lines and carets. */
export class CelErrors extends Error {
  readonly issues: readonly CelIssue[];

  constructor(source: Source, issues: readonly CelIssue[]) {
    super(display(source, issues));
    this.issues = issues;
  }
}

function display(source: Source, issues: readonly CelIssue[]): string {
  // Places nowhere come first, and equal places keep their order.
  const sorted = issues.slice(0, MAX_ISSUES).toSorted((a, b) => a.offset - b.offset);
  // All of them may be of one line, as long as an expression may be.
  const snippets = new Map<number, Snippet | undefined>();
  const lines = sorted.map(({ message, offset }) => {
    const { line, column } = source.locate(offset);
    if (!snippets.has(line)) snippets.set(line, snippetOf(source.line(line, MAX_SNIPPET_BYTES)));
    const snippet = snippets.get(line);
    return `ERROR: ${source.name}:${line}:${column + 1}: ${message}${snippet === undefined ? '' : shown(snippet, column)}`;
  });
  if (issues.length > MAX_ISSUES) lines.push(`${issues.length - MAX_ISSUES} more errors were truncated`);
  return lines.join('\n');
}

/** A line as errors show it. */
interface Snippet {
  chars: readonly string[];
  text: string;
  /** What stands below the line up to the place: a dot for each character. */
  dots: string;
}

function snippetOf(line: readonly string[] | undefined): Snippet | undefined {
  if (line === undefined) return undefined;
  const text = line.join('').replaceAll('\t', ' ');
  if (Buffer.byteLength(text) > MAX_SNIPPET_BYTES) return undefined;
  return { chars: line, text, dots: line.map((char) => (isWide(char) ? WIDE_DOT : '.')).join('') };
}

const shown = ({ chars, text, dots }: Snippet, column: number): string =>
  `\n | ${text}\n | ${dots.slice(0, Math.max(0, column))}${isWide(chars[column] ?? '') ? WIDE_CARET : '^'}`;

const isWide = (char: string): boolean => char !== '' && char.codePointAt(0)! > 0x7f;

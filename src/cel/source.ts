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
    let line = this.#lineStarts.length;
    while (line > 1 && this.#lineStarts[line - 1]! > offset) line--;
    return { line, column: offset - this.#lineStarts[line - 1]! };
  }

  line(number: number): string | undefined {
    const start = this.#lineStarts[number - 1];
    if (start === undefined || this.codePoints.length === 0) return undefined;
    const end = this.#lineStarts[number];
    return this.codePoints.slice(start, end === undefined ? undefined : end - 1).join('');
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
  const lines = sorted.map(({ message, offset }) => {
    const { line, column } = source.locate(offset);
    return `ERROR: ${source.name}:${line}:${column + 1}: ${message}${snippet(source.line(line), column)}`;
  });
  if (issues.length > MAX_ISSUES) lines.push(`${issues.length - MAX_ISSUES} more errors were truncated`);
  return lines.join('\n');
}

function snippet(line: string | undefined, column: number): string {
  if (line === undefined || Buffer.byteLength(line) > MAX_SNIPPET_BYTES) return '';
  const text = line.replaceAll('\t', ' ');
  const chars = Array.from(text);
  const dots = chars.slice(0, column).map((char) => (isWide(char) ? WIDE_DOT : '.'));
  return `\n | ${text}\n | ${dots.join('')}${isWide(chars[column] ?? '') ? WIDE_CARET : '^'}`;
}

const isWide = (char: string): boolean => char !== '' && char.codePointAt(0)! > 0x7f;

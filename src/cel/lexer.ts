import type { CelIssue, Source } from './source.ts';

/** Names of tokens are what syntax errors call them; the order is that in which they are listed (cel-go parser/gen/CEL.g4). */
export const TOKEN_TYPES = [
  "'=='",
  "'!='",
  "'in'",
  "'<'",
  "'<='",
  "'>='",
  "'>'",
  "'&&'",
  "'||'",
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "':'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
  '<EOF>',
] as const;

export type TokenType = (typeof TOKEN_TYPES)[number];

export interface Token {
  type: TokenType;
  text: string;
  /** In code points, like `end`, which is just behind it. */
  offset: number;
  end: number;
}

const TWO_CHARACTERS = new Set(['==', '!=', '<=', '>=', '&&', '||']);
const ONE_CHARACTER = new Set('<>[]{}().,-!?:+*/%');
const WORDS = new Set(['in', 'true', 'false', 'null']);
const SIMPLE_ESCAPES = new Set('abfnrtv"\'\\?`');

/** The tokens, ending with one of type EOF. Characters that begin no token are reported and skipped, as ANTLR does. */
export function tokenize(source: Source, issues: CelIssue[]): Token[] {
  const tokens: Token[] = [];
  const lexer = new Lexer(source.codePoints);
  for (;;) {
    const token = lexer.next(issues);
    if (token === undefined) continue;
    tokens.push(token);
    if (token.type === '<EOF>') return tokens;
  }
}

/** Where a token ends, or which character stands in its way. */
type Scan = { end: number } | { failedAt: number };

class Lexer {
  readonly #chars: readonly string[];
  #position = 0;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
  }

  /** Undefined where something was skipped. */
  next(issues: CelIssue[]): Token | undefined {
    this.#skipBlanks();
    const start = this.#position;
    const char = this.#chars[start];
    if (char === undefined) return { type: '<EOF>', text: '<EOF>', offset: start, end: start };
    if (char === '"' || char === "'" || char === '`') return this.#quoted(start, char, issues);
    return this.#identifierOrPrefixed(start, char) ?? this.#number(start, char) ?? this.#symbol(start, char, issues);
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#chars[this.#position];
      if (char === '/' && this.#chars[this.#position + 1] === '/') this.#skipLine();
      else if (char === ' ' || char === '\t' || char === '\n' || char === '\r' || char === '\f') this.#position++;
      else return;
    }
  }

  #skipLine(): void {
    while (this.#position < this.#chars.length && this.#chars[this.#position] !== '\n') this.#position++;
  }

  #take(type: TokenType, start: number, end: number): Token {
    this.#position = end;
    return { type, text: this.#text(start, end), offset: start, end };
  }

  #text(start: number, end: number): string {
    return this.#chars.slice(start, end).join('');
  }

  #identifierOrPrefixed(start: number, char: string): Token | undefined {
    if (!isLetter(char)) return undefined;
    const prefixed = this.#prefixedString(start);
    if (prefixed !== undefined) return prefixed;
    let end = start + 1;
    while (isLetter(this.#chars[end]) || isDigit(this.#chars[end])) end++;
    const text = this.#text(start, end);
    return this.#take(WORDS.has(text) ? (`'${text}'` as TokenType) : 'IDENTIFIER', start, end);
  }

  /** `b"…"`, `r'…'`, `br"""…"""`; a letter that no string follows begins a name. */
  #prefixedString(start: number): Token | undefined {
    let quote = start;
    const isBytes = /^b$/i.test(this.#chars[quote] ?? '');
    if (isBytes) quote++;
    const isRaw = /^r$/i.test(this.#chars[quote] ?? '');
    if (isRaw) quote++;
    if (quote === start) return undefined;
    const scan = this.#scanString(quote, isRaw);
    return scan !== undefined && 'end' in scan ? this.#take(isBytes ? 'BYTES' : 'STRING', start, scan.end) : undefined;
  }

  #number(start: number, char: string): Token | undefined {
    if (!isDigit(char) && !(char === '.' && isDigit(this.#chars[start + 1]))) return undefined;
    if (char === '0' && this.#chars[start + 1] === 'x' && isHex(this.#chars[start + 2])) return this.#integer(start, this.#run(start + 2, isHex));
    const wholeEnd = this.#run(start, isDigit);
    const hasFraction = this.#chars[wholeEnd] === '.' && isDigit(this.#chars[wholeEnd + 1]);
    const fractionEnd = hasFraction ? this.#run(wholeEnd + 1, isDigit) : wholeEnd;
    const end = this.#exponentEnd(fractionEnd);
    return end === wholeEnd ? this.#integer(start, end) : this.#take('NUM_FLOAT', start, end);
  }

  #integer(start: number, end: number): Token {
    const isUnsigned = /^u$/i.test(this.#chars[end] ?? '');
    return isUnsigned ? this.#take('NUM_UINT', start, end + 1) : this.#take('NUM_INT', start, end);
  }

  #run(start: number, isPart: (char: string | undefined) => boolean): number {
    let end = start;
    while (isPart(this.#chars[end])) end++;
    return end;
  }

  #exponentEnd(start: number): number {
    if (!/^e$/i.test(this.#chars[start] ?? '')) return start;
    const sign = this.#chars[start + 1];
    const digits = sign === '+' || sign === '-' ? start + 2 : start + 1;
    return isDigit(this.#chars[digits]) ? this.#run(digits, isDigit) : start;
  }

  #quoted(start: number, char: string, issues: CelIssue[]): Token | undefined {
    const scan = char === '`' ? this.#scanEscapedIdentifier(start) : this.#scanString(start, false)!;
    if ('end' in scan) return this.#take(char === '`' ? 'ESC_IDENTIFIER' : 'STRING', start, scan.end);
    return this.#fail(start, scan.failedAt, issues);
  }

  /** Undefined where no quote stands here. Three quotes that are never closed are an empty string and a quote. */
  #scanString(start: number, isRaw: boolean): Scan | undefined {
    const quote = this.#chars[start];
    if (quote !== '"' && quote !== "'") return undefined;
    const isTriple = this.#chars[start + 1] === quote && this.#chars[start + 2] === quote;
    if (!isTriple) return this.#scanQuoted(start + 1, quote, 1, isRaw);
    const scan = this.#scanQuoted(start + 3, quote, 3, isRaw);
    return 'end' in scan ? scan : { end: start + 2 };
  }

  #scanQuoted(start: number, quote: string, quoteCount: number, isRaw: boolean): Scan {
    for (let index = start; ;) {
      const char = this.#chars[index];
      if (char === undefined) return { failedAt: index };
      if (this.#isClosing(index, quote, quoteCount)) return { end: index + quoteCount };
      if (quoteCount === 1 && (char === '\n' || char === '\r')) return { failedAt: index };
      if (char !== '\\' || isRaw) index++;
      else {
        const escape = this.#scanEscape(index);
        if ('failedAt' in escape) return escape;
        index = escape.end;
      }
    }
  }

  #isClosing(index: number, quote: string, quoteCount: number): boolean {
    for (let offset = 0; offset < quoteCount; offset++) if (this.#chars[index + offset] !== quote) return false;
    return true;
  }

  #scanEscape(start: number): Scan {
    const char = this.#chars[start + 1];
    if (char === undefined) return { failedAt: start + 1 };
    if (SIMPLE_ESCAPES.has(char)) return { end: start + 2 };
    const [count, isPart] = ESCAPE_DIGITS[char] ?? [0, isHex];
    if (count === 0) return { failedAt: start + 1 };
    for (let offset = 0; offset < count; offset++) if (!isPart(this.#chars[start + 2 + offset])) return { failedAt: start + 2 + offset };
    return { end: start + 2 + count };
  }

  #scanEscapedIdentifier(start: number): Scan {
    const end = this.#run(start + 1, (char) => char !== undefined && /^[A-Za-z0-9_.\-/ ]$/.test(char));
    return end > start + 1 && this.#chars[end] === '`' ? { end: end + 1 } : { failedAt: end };
  }

  #symbol(start: number, char: string, issues: CelIssue[]): Token | undefined {
    const pair = char + (this.#chars[start + 1] ?? '');
    if (TWO_CHARACTERS.has(pair)) return this.#take(`'${pair}'` as TokenType, start, start + 2);
    if (ONE_CHARACTER.has(char)) return this.#take(`'${char}'` as TokenType, start, start + 1);
    return this.#fail(start, char === '=' || char === '&' || char === '|' ? start + 1 : start, issues);
  }

  /** The character that stands in the way is skipped too. */
  #fail(start: number, failedAt: number, issues: CelIssue[]): undefined {
    issues.push({ offset: start, message: `Syntax error: token recognition error at: '${this.#text(start, failedAt + 1)}'` });
    this.#position = Math.min(failedAt + 1, this.#chars.length);
    return undefined;
  }
}

const isLetter = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z_]$/.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9' && char.length === 1;
const isHex = (char: string | undefined): boolean => char !== undefined && /^[0-9a-fA-F]$/.test(char);
const isOctal = (char: string | undefined): boolean => char !== undefined && /^[0-7]$/.test(char);

const ESCAPE_DIGITS: Record<string, [count: number, isPart: (char: string | undefined) => boolean]> = {
  x: [2, isHex],
  X: [2, isHex],
  u: [4, isHex],
  U: [8, isHex],
  0: [2, isOctal],
  1: [2, isOctal],
  2: [2, isOctal],
  3: [2, isOctal],
};

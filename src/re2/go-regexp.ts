/**
 * The grammar of Go's regular expressions (RE2: regexp/syntax with Perl flags), checked without being run. Answers with Go's words for what is wrong
 * with a pattern, or nothing.
 */
export function goRegexpError(pattern: string): string | undefined {
  try {
    new Checker(pattern).check();
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return `error parsing regexp: ${error.message}`;
  }
}

class SyntaxProblem extends Error {
  constructor(code: string, snippet: string) {
    super(`${code}: \`${snippet}\``);
  }
}

const MAX_REPEAT = 1000;
const MAX_CODE_POINT = 0x10_ffff;
/** Longer than any escape that is told in an error. */
const MAX_ESCAPE = 32;
/** As regexp/syntax: deeper expressions are refused. */
const MAX_DEPTH = 1000;
const REPEAT = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y;
const REPETITION = /(?:[*+?]|\{\d{1,9}(?:,\d{0,9})?\})\??/y;
const CAPTURE = /\(\?P?<([A-Za-z0-9_]+)>/y;
const FLAGS = /\(\?(?:[imsU]+(?:-[imsU]+)?|-[imsU]+|)[:)]/y;
const POSIX_CLASS = /\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;
const ANY_POSIX_CLASS = /\[:[^\]]{0,64}:\]/y;
const PERL_CLASS = /\\[dDsSwW]/y;
const UNICODE_CLASS = /\\[pP](?:\{\^?([^}]*)\}|([^]))/uy;
const OCTAL = /\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/y;
const HEX = /\\x(?:[0-9a-fA-F]{2}|\{([0-9a-fA-F]{1,8})\})/y;
const ASSERTION = /\\[AzbB]/y;
const QUOTED = /\\Q[^]*?(?:\\E|$)/y;
// oxlint-disable-next-line no-control-regex -- every character of ASCII that is no letter or digit stands for itself
const PLAIN_ESCAPE = /\\[afnrtv\0-/:-@[-`{-\x7f]/y;

class Checker {
  readonly #pattern: string;
  #position = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  check(): void {
    let depth = 0;
    // Whether there is something for a repetition to repeat.
    let hasOperand = false;
    while (this.#position < this.#pattern.length) {
      const char = this.#pattern[this.#position]!;
      if (char === '(') {
        if (++depth > MAX_DEPTH) throw new SyntaxProblem('expression nests too deeply', this.#pattern);
        // Flags stand for nothing: a repetition behind them repeats what is before them.
        if (this.#openGroup() === 'flags') depth--;
        else hasOperand = false;
      } else if (char === ')') {
        if (--depth < 0) throw new SyntaxProblem('unexpected )', this.#pattern);
        this.#position++;
        hasOperand = true;
      } else if (char === '|') {
        this.#position++;
        hasOperand = false;
      } else if ('*+?{'.includes(char) && this.#isRepetition()) this.#repeat(hasOperand);
      else {
        this.#operand(char);
        hasOperand = true;
      }
    }
    if (depth > 0) throw new SyntaxProblem('missing closing )', this.#pattern);
  }

  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#position;
    const match = expression.exec(this.#pattern);
    if (match) this.#position += match[0].length;
    return match;
  }

  #openGroup(): 'group' | 'flags' {
    if (this.#pattern[this.#position + 1] !== '?') {
      this.#position++;
      return 'group';
    }
    if (this.#take(CAPTURE)) return 'group';
    const flags = this.#take(FLAGS);
    if (flags) return flags[0].endsWith(')') ? 'flags' : 'group';
    const rest = this.#pattern.slice(this.#position);
    if (/^\(\?P?</.test(rest)) {
      const end = rest.indexOf('>');
      throw new SyntaxProblem('invalid named capture', end === -1 ? rest : rest.slice(0, end + 1));
    }
    throw new SyntaxProblem('invalid or unsupported Perl syntax', /^\(\?[imsU-]*[^]?/u.exec(rest)![0]);
  }

  /** A brace that does not count is a character like any other. */
  #isRepetition(): boolean {
    if (this.#pattern[this.#position] !== '{') return true;
    REPEAT.lastIndex = this.#position;
    return REPEAT.test(this.#pattern);
  }

  #repeat(hasOperand: boolean): void {
    const start = this.#position;
    const first = this.#take(REPETITION)![0];
    checkCount(first);
    if (!hasOperand) throw new SyntaxProblem('missing argument to repetition operator', first);
    if (this.#position < this.#pattern.length && '*+?{'.includes(this.#pattern[this.#position]!) && this.#isRepetition()) {
      this.#take(REPETITION);
      throw new SyntaxProblem('invalid nested repetition operator', this.#pattern.slice(start, this.#position));
    }
  }

  #operand(char: string): void {
    if (char === '[') this.#class();
    else if (char === '\\') this.#escape();
    else this.#position += char.length;
  }

  #escape(): void {
    if (this.#position === this.#pattern.length - 1) throw new SyntaxProblem('trailing backslash at end of expression', '');
    if (this.#take(QUOTED) || this.#take(ASSERTION) || this.#takeUnicodeClass() || this.#take(PERL_CLASS)) return;
    this.#characterEscape();
  }

  /** One that stands for a single character. */
  #characterEscape(): void {
    if (this.#take(OCTAL) || this.#take(PLAIN_ESCAPE)) return;
    const rest = this.#pattern.slice(this.#position, this.#position + MAX_ESCAPE);
    if (rest[1] !== 'x') throw new SyntaxProblem('invalid escape sequence', /^\\[^]?/u.exec(rest)![0]);
    const hex = this.#take(HEX);
    if (!hex || Number.parseInt(hex[1] ?? hex[0].slice(2), 16) > MAX_CODE_POINT) throw new SyntaxProblem('invalid escape sequence', hexRead(rest));
  }

  /** `\pL` or `\p{Greek}`, whatever stands for the name. */
  #takeUnicodeClass(): boolean {
    const start = this.#position;
    const match = this.#take(UNICODE_CLASS);
    if (!match) return false;
    if (match[0].endsWith('{')) throw new SyntaxProblem('invalid character class range', this.#pattern.slice(start));
    if (!isUnicodeClass(match[1] ?? match[2]!)) throw new SyntaxProblem('invalid character class range', match[0]);
    return true;
  }

  #class(): void {
    const start = this.#position;
    this.#position += this.#pattern[start + 1] === '^' ? 2 : 1;
    for (let isFirst = true; isFirst || this.#pattern[this.#position] !== ']'; isFirst = false) {
      if (this.#position >= this.#pattern.length) throw new SyntaxProblem('missing closing ]', this.#pattern.slice(start));
      this.#classItem(start);
    }
    this.#position++;
  }

  #classItem(start: number): void {
    // Most items are letters: expressions are tried where they can match.
    if (this.#pattern.startsWith('[:', this.#position)) {
      if (this.#take(POSIX_CLASS)) return;
      const unknown = this.#take(ANY_POSIX_CLASS);
      if (unknown) throw new SyntaxProblem('invalid character class range', unknown[0]);
    }
    if (this.#pattern[this.#position] === '\\' && (this.#take(PERL_CLASS) || this.#takeUnicodeClass())) return;
    const from = this.#position;
    const low = this.#classCharacter(start);
    const isRange = this.#pattern[this.#position] === '-' && this.#position + 1 < this.#pattern.length && this.#pattern[this.#position + 1] !== ']';
    if (!isRange) return;
    this.#position++;
    const high = this.#classCharacter(start);
    if (high < low) throw new SyntaxProblem('invalid character class range', this.#pattern.slice(from, this.#position));
  }

  #classCharacter(start: number): number {
    if (this.#position >= this.#pattern.length) throw new SyntaxProblem('missing closing ]', this.#pattern.slice(start));
    const from = this.#position;
    if (this.#pattern[from] !== '\\') {
      const code = this.#pattern.codePointAt(from)!;
      this.#position += code > 0xffff ? 2 : 1;
      return code;
    }
    if (from === this.#pattern.length - 1) throw new SyntaxProblem('trailing backslash at end of expression', '');
    this.#characterEscape();
    return escapedCode(this.#pattern.slice(from, this.#position));
  }
}

function checkCount(repetition: string): void {
  if (repetition[0] !== '{') return;
  const [, min = '', comma, max = ''] = /^\{(\d+)(,)?(\d*)\}/.exec(repetition) ?? [];
  const counts = [min, max].filter((count) => count !== '').map(Number);
  const isWrong = counts.some((count) => count > MAX_REPEAT) || (comma !== undefined && max !== '' && counts[1]! < counts[0]!);
  if (isWrong) throw new SyntaxProblem('invalid repeat count', repetition.replace(/\?$/, ''));
}

/** What Go's parser has read of `\x…` when it gives up: up to the digit that is none, or is one too many. */
function hexRead(rest: string): string {
  const digits = /^\\x\{([0-9a-fA-F]*)/.exec(rest)?.[1];
  if (digits === undefined) return /^\\x[^]{0,2}/u.exec(rest)![0];
  for (let end = 1; end <= digits.length; end++) if (Number.parseInt(digits.slice(0, end), 16) > MAX_CODE_POINT) return rest.slice(0, 3 + end);
  return rest.slice(0, 3 + digits.length) + (/^[^]/u.exec(rest.slice(3 + digits.length))?.[0] ?? '');
}

const CONTROLS: Record<string, number> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCode(escape: string): number {
  const char = escape[1]!;
  if (char === 'x') return Number.parseInt(escape.replace(/[\\x{}]/g, ''), 16);
  if (/[0-7]/.test(char)) return Number.parseInt(escape.slice(1), 8);
  return CONTROLS[char] ?? escape.codePointAt(1)!;
}

function isUnicodeClass(name: string): boolean {
  if (name === 'Any') return true;
  if (!/^[A-Za-z_]+$/.test(name)) return false;
  for (const property of ['gc', 'sc']) {
    try {
      return new RegExp(`\\p{${property}=${name}}`, 'u').unicode;
    } catch {
      // Not one of these.
    }
  }
  return false;
}

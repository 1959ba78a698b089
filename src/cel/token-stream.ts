import { TOKEN_TYPES, type Token, type TokenType } from './lexer.ts';
import type { CelIssue, Source } from './source.ts';

/** The text is so wrong that parsing stops; what is wrong was reported. */
export class SyntaxAbort extends Error {}

const LITERALS: readonly TokenType[] = ["'true'", "'false'", "'null'", 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES'];
/** What an expression can begin with. */
export const EXPRESSION_START: readonly TokenType[] = ["'['", "'{'", "'('", "'.'", "'-'", "'!'", ...LITERALS, 'IDENTIFIER'];
/** What can stand behind an operand whatever is around it. */
const OPERATORS = new Set<TokenType>([
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
  "'.'",
  "'-'",
  "'?'",
  "'+'",
  "'*'",
  "'/'",
  "'%'",
]);

/**
 * The tokens of an expression, with the errors of ANTLR's default strategy: a token too many is skipped where the next one fits, a closing
 * bracket too few is taken for granted where the text can go on, and anything else ends the parse.
 */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #source: Source;
  readonly #issues: CelIssue[];
  /** What may end the expression that is being read, innermost last. */
  readonly #closers: (readonly TokenType[])[] = [['<EOF>']];
  #position = 0;

  constructor(tokens: readonly Token[], source: Source, issues: CelIssue[]) {
    this.#tokens = tokens;
    this.#source = source;
    this.#issues = issues;
  }

  get current(): Token {
    return this.peek(0);
  }

  peek(distance: number): Token {
    return this.#tokens[Math.min(this.#position + distance, this.#tokens.length - 1)]!;
  }

  is(type: TokenType): boolean {
    return this.current.type === type;
  }

  take(): Token {
    const token = this.current;
    this.#position++;
    return token;
  }

  /** The token, where it is the next one. */
  takeIf(type: TokenType): Token | undefined {
    return this.is(type) ? this.take() : undefined;
  }

  /** Reads something that one of the `closers` ends. */
  within<R>(closers: readonly TokenType[], read: () => R): R {
    this.#closers.push(closers);
    const result = read();
    this.#closers.pop();
    return result;
  }

  /** Before a choice: the next token must begin one of the alternatives. */
  sync(expected: readonly TokenType[]): void {
    if (expected.includes(this.current.type)) return;
    if (expected.includes(this.peek(1).type)) return this.#skipExtraneous(expected);
    this.report(this.current, `mismatched input ${display(this.current)} expecting ${displayTypes(expected)}`);
    throw new SyntaxAbort();
  }

  /** The next token must be this one. */
  expect(type: TokenType): Token {
    if (this.is(type)) return this.take();
    if (this.peek(1).type === type) {
      this.#skipExtraneous([type]);
      return this.take();
    }
    const isOperandEnd = type === "')'" || type === "']'" || type === "'}'";
    const canGoOn = isOperandEnd && (OPERATORS.has(this.current.type) || this.#closers.at(-1)!.includes(this.current.type));
    this.report(this.current, canGoOn ? `missing ${type} at ${display(this.current)}` : `mismatched input ${display(this.current)} expecting ${type}`);
    if (!canGoOn) throw new SyntaxAbort();
    return { ...this.current, type };
  }

  /** No alternative fits what stands from `start` to the next token. */
  failFrom(start: Token): never {
    const offending = this.current;
    const text = this.#source.codePoints.slice(start.offset, offending.end).join('');
    // Reserved words keep the wording that cel-go has always had for them.
    const reserved = /^.(true|false|null)$/.exec(text);
    this.report(offending, reserved ? `mismatched input '${reserved[1]}' expecting IDENTIFIER` : `no viable alternative at input '${escapeBlanks(text)}'`);
    throw new SyntaxAbort();
  }

  failExtraneous(expected: readonly TokenType[]): never {
    this.report(this.current, `extraneous input ${display(this.current)} expecting ${displayTypes(expected)}`);
    throw new SyntaxAbort();
  }

  report(token: Token, message: string): void {
    this.#issues.push({ offset: token.offset, message: `Syntax error: ${message}` });
  }

  #skipExtraneous(expected: readonly TokenType[]): void {
    this.report(this.current, `extraneous input ${display(this.current)} expecting ${displayTypes(expected)}`);
    this.take();
  }
}

const display = (token: Token): string => `'${escapeBlanks(token.text)}'`;
const escapeBlanks = (text: string): string => text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

function displayTypes(types: readonly TokenType[]): string {
  if (types.length === 1) return types[0]!;
  return `{${types.toSorted((a, b) => TOKEN_TYPES.indexOf(a) - TOKEN_TYPES.indexOf(b)).join(', ')}}`;
}

import { TOKEN_TYPES, type Token, type TokenType } from './lexer.ts';
import type { CelIssue, Source } from './source.ts';

/** A rule of the grammar cannot go on; what is wrong was reported. */
export class SyntaxAbort extends Error {}

const LITERALS: readonly TokenType[] = ["'true'", "'false'", "'null'", 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES'];
/** What an expression can begin with. */
export const EXPRESSION_START: readonly TokenType[] = ["'['", "'{'", "'('", "'.'", "'-'", "'!'", ...LITERALS, 'IDENTIFIER'];
const BINARY_OPERATORS = new Set<TokenType>(["'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'-'", "'?'", "'+'", "'*'", "'/'", "'%'"]);
/** What can stand behind an operand whatever is around it. */
const OPERATORS = new Set<TokenType>([...BINARY_OPERATORS, "'['", "'.'"]);

/**
 * The tokens of an expression, with the errors and the recovery of ANTLR's default strategy: a token too many is skipped where the next one fits, a
 * closing bracket too few is taken for granted where the text can go on. Anything else ends the rule that is being read; tokens are skipped up
 * to one that may follow it, and nothing more is reported until a token fits again.
 */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #source: Source;
  readonly #issues: CelIssue[];
  /** What may end the expression that is being read, innermost last. */
  readonly #closers: (readonly TokenType[])[] = [['<EOF>']];
  #position = 0;
  #isRecovering = false;

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
    this.#isRecovering = false;
    this.#position++;
    return token;
  }

  /** The token, where it is the next one. */
  takeIf(type: TokenType): Token | undefined {
    return this.is(type) ? this.take() : undefined;
  }

  /** Something begins that one of the `closers` ends. */
  open(...closers: TokenType[]): void {
    this.#closers.push(closers);
  }

  /** It has ended. */
  close(): void {
    this.#closers.pop();
  }

  /** How many things are open, for `recover`. */
  get depth(): number {
    return this.#closers.length;
  }

  /**
   * After an error in a rule that began at a depth: goes on where the rule could have ended. `followers` may come next, beside operators and what
   * closes what is around. Rethrows what is no error of syntax.
   */
  recover(error: unknown, depth: number, ...followers: TokenType[]): void {
    if (!(error instanceof SyntaxAbort)) throw error;
    this.#closers.length = depth;
    while (!this.#canFollow(followers)) this.#position++;
  }

  #canFollow(followers: readonly TokenType[]): boolean {
    const { type } = this.current;
    return type === '<EOF>' || BINARY_OPERATORS.has(type) || followers.includes(type) || this.#closers.some((closers) => closers.includes(type));
  }

  /** Before a choice: the next token must begin one of the alternatives. */
  sync(expected: readonly TokenType[]): void {
    if (expected.includes(this.current.type)) return;
    if (this.#isRecovering) throw new SyntaxAbort();
    if (expected.includes(this.peek(1).type)) return this.#skipExtraneous(expected);
    this.#fail(this.current, `mismatched input ${display(this.current)} expecting ${displayTypes(expected)}`);
  }

  /** The next token must be this one. */
  expect(type: TokenType): Token {
    if (this.is(type)) return this.take();
    if (this.peek(1).type === type && this.current.type !== '<EOF>') {
      this.#skipExtraneous([type]);
      return this.take();
    }
    const isOperandEnd = type === "')'" || type === "']'" || type === "'}'";
    const canGoOn = isOperandEnd && (OPERATORS.has(this.current.type) || this.#closers.at(-1)!.includes(this.current.type));
    if (!canGoOn) this.#fail(this.current, `mismatched input ${display(this.current)} expecting ${type}`);
    this.#report(this.current, `missing ${type} at ${display(this.current)}`);
    return { ...this.current, type };
  }

  /** No alternative fits what stands from `start` to `offending`. */
  failBetween(start: Token, offending: Token): never {
    const text = this.#textBetween(start, offending);
    // Reserved words keep the wording that cel-go has always had for them.
    const reserved = /^.(true|false|null)$/.exec(text);
    this.#fail(offending, reserved ? `mismatched input '${reserved[1]}' expecting IDENTIFIER` : `no viable alternative at input '${escapeBlanks(text)}'`);
  }

  failExtraneous(expected: readonly TokenType[]): never {
    this.#fail(this.current, `extraneous input ${display(this.current)} expecting ${displayTypes(expected)}`);
  }

  /** Tokens with the blanks between them; characters that are no token are not there. */
  #textBetween(start: Token, offending: Token): string {
    const tokens = this.#tokens.slice(this.#tokens.indexOf(start), this.#tokens.indexOf(offending) + 1);
    return tokens
      .map((token, index) => {
        const gap = index === 0 ? '' : this.#source.codePoints.slice(tokens[index - 1]!.end, token.offset).join('');
        return (gap.trim() === '' ? gap : '') + (token.type === '<EOF>' ? '' : token.text);
      })
      .join('');
  }

  #fail(token: Token, message: string): never {
    this.#report(token, message);
    throw new SyntaxAbort();
  }

  #report(token: Token, message: string): void {
    if (!this.#isRecovering) this.#issues.push({ offset: token.offset, message: `Syntax error: ${message}` });
    this.#isRecovering = true;
  }

  #skipExtraneous(expected: readonly TokenType[]): void {
    this.#report(this.current, `extraneous input ${display(this.current)} expecting ${displayTypes(expected)}`);
    this.#position++;
    this.#isRecovering = false;
  }
}

const display = (token: Token): string => `'${escapeBlanks(token.text)}'`;
const escapeBlanks = (text: string): string => text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

function displayTypes(types: readonly TokenType[]): string {
  if (types.length === 1) return types[0]!;
  return `{${types.toSorted((a, b) => TOKEN_TYPES.indexOf(a) - TOKEN_TYPES.indexOf(b)).join(', ')}}`;
}

import type { Expr, MapEntry, StructField, Unspecified } from './ast.ts';
import { parseFloatText } from './convert.ts';
import { tokenize, type Token, type TokenType } from './lexer.ts';
import { ExprBuilder, MacroError, type CopyBudget, type Macro } from './macro.ts';
import { checkedInt, checkedUint } from './numbers.ts';
import * as operators from './operators.ts';
import { LIMITS } from '../util/limits.ts';
import type { Source } from './source.ts';
import { NOWHERE, type CelIssue } from './source.ts';
import { EXPRESSION_START, TokenStream } from './token-stream.ts';
import { UnescapeError, unescapeBytes, unescapeString } from './unescape.ts';
import { CelDouble, CelError, type CelValue } from './values.ts';

export interface ParseOptions {
  /** The macro for a call, where there is one. */
  findMacro(name: string, argumentCount: number, isReceiver: boolean): Macro | undefined;
  /** `a.?b`, `a[?b]`, `{?k: v}`, `[?x]` */
  hasOptionalSyntax: boolean;
  /** Names in backquotes. */
  hasEscapedNames: boolean;
}

/** Limits are those of cel-go's parser. */
const MAX_CODE_POINTS = 100_000;
const MAX_DEPTH = 250;
/** cel-go compiles in a goroutine of its own. Here nobody is served meanwhile, and a token costs three microseconds until its expression is planned. */
const MAX_TOKENS = LIMITS.celTokens;
/** cel-go knows no bound; more than the longest text could have on its own is none that anyone wrote. */
const MAX_COPIED_NODES = 100_000;

const RESERVED = new Set('as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '));

/** The expression, and what is wrong with the text; with issues the expression is of no use. */
export function parse(source: Source, options: ParseOptions): { expr: Expr; issues: CelIssue[] } {
  const issues: CelIssue[] = [];
  const size = source.codePoints.length;
  if (size > MAX_CODE_POINTS) {
    issues.push({ offset: NOWHERE, message: `expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}` });
    return { expr: { kind: 'unspecified', offset: 0 }, issues };
  }
  const tokenList = tokenize(source, issues);
  if (tokenList.length > MAX_TOKENS) {
    issues.push({ offset: NOWHERE, message: `expression token count exceeds limit: size: ${tokenList.length}, limit ${MAX_TOKENS}` });
    return { expr: { kind: 'unspecified', offset: 0 }, issues };
  }
  const tokens = new TokenStream(tokenList, source, issues);
  return { expr: new Parser(tokens, options, issues).parse(), issues };
}

class TooDeep extends Error {}

/** Rules of the grammar whose nesting is limited. */
type Rule = 'expr' | 'relation' | 'calc';

/**
 * A parser by recursive descent. Few functions call each other for each level of nesting, since the text may nest as deep as MAX_DEPTH and the
 * stack is not the parser's alone.
 */
class Parser {
  readonly #tokens: TokenStream;
  readonly #options: ParseOptions;
  readonly #issues: CelIssue[];
  readonly #depths: Record<Rule, number> = { expr: 0, relation: 0, calc: 0 };
  readonly #copyBudget: CopyBudget = { left: MAX_COPIED_NODES };
  /** How many operators, selections and calls stand inside each other in the expression that was read last. */
  #height = 0;

  constructor(tokens: TokenStream, options: ParseOptions, issues: CelIssue[]) {
    this.#tokens = tokens;
    this.#options = options;
    this.#issues = issues;
  }

  parse(): Expr {
    const { depth } = this.#tokens;
    try {
      const expr = this.#expr();
      this.#tokens.expect('<EOF>');
      return expr;
    } catch (error) {
      if (error instanceof TooDeep) return this.#report(NOWHERE, error.message);
      return this.#gap(error, depth);
    }
  }

  #report(offset: number, message: string): Unspecified {
    this.#issues.push({ offset, message });
    return { kind: 'unspecified', offset };
  }

  /** Stands for what could not be read; the parse goes on behind it. */
  #gap(error: unknown, depth: number, ...followers: TokenType[]): Unspecified {
    this.#tokens.recover(error, depth, ...followers);
    return { kind: 'unspecified', offset: this.#tokens.current.offset };
  }

  #enter(rule: Rule): void {
    if (++this.#depths[rule] > MAX_DEPTH) throw new TooDeep(`expression recursion limit exceeded: ${MAX_DEPTH}`);
  }

  #raise(...heights: number[]): void {
    this.#height = 1 + Math.max(...heights);
    if (this.#height > MAX_DEPTH) throw new TooDeep('max recursion depth exceeded');
  }

  #expr(): Expr {
    const { depth } = this.#tokens;
    const { expr, relation, calc } = this.#depths;
    this.#enter('expr');
    this.#enter('relation');
    this.#enter('calc');
    try {
      const condition = this.#disjunction();
      return this.#tokens.is("'?'") ? this.#conditional(condition) : condition;
    } catch (error) {
      return this.#gap(error, depth);
    } finally {
      Object.assign(this.#depths, { expr, relation, calc });
    }
  }

  #conditional(condition: Expr): Expr {
    const conditionHeight = this.#height;
    const mark = this.#tokens.take();
    this.#tokens.open("':'");
    const whenTrue = this.#disjunction();
    this.#tokens.close();
    const trueHeight = this.#height;
    this.#tokens.expect("':'");
    const whenFalse = this.#expr();
    this.#raise(conditionHeight, trueHeight, this.#height);
    return this.#call(mark.offset, operators.CONDITIONAL, undefined, [condition, whenTrue, whenFalse]);
  }

  #disjunction(): Expr {
    const terms = [this.#conjunction()];
    const offsets: number[] = [];
    let height = this.#height;
    while (this.#tokens.is("'||'")) {
      offsets.push(this.#tokens.take().offset);
      terms.push(this.#conjunction());
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return balanced(operators.LOGICAL_OR, terms, offsets);
  }

  #conjunction(): Expr {
    const terms = [this.#binary(1)];
    const offsets: number[] = [];
    let height = this.#height;
    while (this.#tokens.is("'&&'")) {
      offsets.push(this.#tokens.take().offset);
      terms.push(this.#binary(1));
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return balanced(operators.LOGICAL_AND, terms, offsets);
  }

  /** Operators of this level and of those that bind closer, all from left to right. */
  #binary(level: number): Expr {
    let left = this.#unary();
    let height = this.#height;
    for (;;) {
      const operator = operators.BINARY.get(this.#tokens.current.type);
      if (operator === undefined || operator.level < level) return left;
      const { offset } = this.#tokens.take();
      const rule = operator.level === 1 ? 'relation' : 'calc';
      this.#enter(rule);
      const right = this.#binary(operator.level + 1);
      this.#depths[rule]--;
      this.#raise(height, this.#height);
      height = this.#height;
      left = this.#call(offset, operator.name, undefined, [left, right]);
    }
  }

  #unary(): Expr {
    const { depth } = this.#tokens;
    try {
      this.#tokens.sync(EXPRESSION_START);
      if (this.#tokens.is("'!'")) return this.#repeated("'!'", operators.LOGICAL_NOT);
      if (this.#tokens.is("'-'") && !isSignedNumber(this.#tokens.peek(1))) return this.#repeated("'-'", operators.NEGATE);
      return this.#member();
    } catch (error) {
      return this.#gap(error, depth);
    }
  }

  /** Pairs of the operator cancel out. */
  #repeated(type: "'!'" | "'-'", name: string): Expr {
    const first = this.#tokens.current;
    let count = 0;
    for (; this.#tokens.is(type); count++) {
      const next = this.#tokens.peek(1);
      if (type === "'-'" && !OPERAND_START.includes(next.type)) this.#tokens.failBetween(this.#tokens.current, next);
      this.#tokens.take();
    }
    if (!EXPRESSION_START.includes(this.#tokens.current.type)) this.#tokens.failExtraneous(EXPRESSION_START);
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(first.offset, name, undefined, [operand]);
  }

  #member(): Expr {
    const { depth } = this.#tokens;
    try {
      let expr = this.#primary();
      for (;;) {
        if (this.#tokens.is("'.'")) expr = this.#selection(expr);
        else if (this.#tokens.is("'['")) expr = this.#index(expr);
        else return expr;
      }
    } catch (error) {
      return this.#gap(error, depth);
    }
  }

  #selection(operand: Expr): Expr {
    const next = this.#tokens.peek(1);
    if (next.type !== "'?'" && !FIELD_NAME.includes(next.type)) this.#tokens.failBetween(this.#tokens.current, next);
    const dot = this.#tokens.take();
    const mark = this.#tokens.takeIf("'?'");
    this.#tokens.sync(FIELD_NAME);
    const name = this.#tokens.take();
    if (mark === undefined && name.type === 'IDENTIFIER' && this.#tokens.is("'('")) return this.#memberCall(operand, name);
    this.#raise(this.#height);
    const field = this.#fieldName(name);
    if (field === undefined) return { kind: 'unspecified', offset: name.offset };
    if (mark === undefined) return { kind: 'select', offset: dot.offset, operand, field, isTest: false };
    if (!this.#options.hasOptionalSyntax) return this.#report(dot.offset, "unsupported syntax '.?'");
    const args: Expr[] = [operand, { kind: 'literal', offset: name.offset, value: field }];
    return { kind: 'call', offset: dot.offset, name: operators.OPTIONAL_SELECT, target: undefined, args };
  }

  #fieldName(token: Token): string | undefined {
    if (token.type === 'IDENTIFIER') return token.text;
    if (this.#options.hasEscapedNames) return token.text.slice(1, -1);
    this.#report(token.offset, "unsupported syntax: '`'");
    return undefined;
  }

  #memberCall(target: Expr, name: Token): Expr {
    const targetHeight = this.#height;
    const open = this.#tokens.take();
    const args = this.#arguments();
    this.#raise(targetHeight, this.#height);
    return this.#call(open.offset, name.text, target, args);
  }

  /** What stands between the parentheses, and the closing one. */
  #arguments(): Expr[] {
    this.#tokens.sync([...EXPRESSION_START, "')'"]);
    const args: Expr[] = [];
    let height = 0;
    if (!this.#tokens.is("')'")) {
      this.#tokens.open("','", "')'");
      do {
        args.push(this.#expr());
        height = Math.max(height, this.#height);
      } while (this.#tokens.takeIf("','") !== undefined);
      this.#tokens.close();
    }
    this.#tokens.expect("')'");
    this.#height = height;
    return args;
  }

  #index(operand: Expr): Expr {
    const operandHeight = this.#height;
    const open = this.#tokens.take();
    this.#tokens.sync([...EXPRESSION_START, "'?'"]);
    const mark = this.#tokens.takeIf("'?'");
    this.#tokens.open("']'");
    const index = this.#expr();
    this.#tokens.close();
    this.#tokens.expect("']'");
    this.#raise(operandHeight, this.#height);
    if (mark === undefined) return this.#call(open.offset, operators.INDEX, undefined, [operand, index]);
    if (!this.#options.hasOptionalSyntax) return this.#report(open.offset, "unsupported syntax '[?'");
    return this.#call(open.offset, operators.OPTIONAL_INDEX, undefined, [operand, index]);
  }

  #primary(): Expr {
    const { depth } = this.#tokens;
    this.#height = 0;
    try {
      switch (this.#tokens.current.type) {
        case "'('":
          return this.#parenthesized();
        case "'['":
          return this.#list();
        case "'{'":
          return this.#map();
        case "'.'":
        case 'IDENTIFIER':
          return this.#name();
        default:
          return this.#literal();
      }
    } catch (error) {
      return this.#gap(error, depth, "'.'", "'['");
    }
  }

  #parenthesized(): Expr {
    this.#tokens.take();
    this.#tokens.open("')'");
    const expr = this.#expr();
    this.#tokens.close();
    this.#tokens.expect("')'");
    return expr;
  }

  #list(): Expr {
    const open = this.#tokens.take();
    this.#tokens.sync([...EXPRESSION_START, "']'", "','", "'?'"]);
    const elements: Expr[] = [];
    const optionalIndexes = new Set<number>();
    this.#sequence("']'", () => {
      const mark = this.#optionalMark();
      if (mark) optionalIndexes.add(elements.length);
      elements.push(this.#expr());
    });
    return { kind: 'list', offset: open.offset, elements, optionalIndexes };
  }

  /** Items between commas, the last of which may have none behind it, and the closing bracket. */
  #sequence(close: "']'" | "'}'", readItem: () => void): void {
    let height = 0;
    if (!this.#tokens.is(close) && !this.#tokens.is("','")) {
      do {
        this.#item(close, readItem);
        height = Math.max(height, this.#height);
      } while (this.#tokens.is("','") && ITEM_START.has(this.#tokens.peek(1).type) && this.#tokens.take());
    }
    this.#tokens.sync([close, "','"]);
    this.#tokens.takeIf("','");
    this.#tokens.expect(close);
    this.#height = height;
  }

  #item(close: "']'" | "'}'", readItem: () => void): void {
    const { depth } = this.#tokens;
    this.#tokens.open("','", close);
    try {
      readItem();
      this.#tokens.close();
    } catch (error) {
      this.#tokens.recover(error, depth, "','", close);
    }
  }

  #optionalMark(): boolean {
    const mark = this.#tokens.takeIf("'?'");
    if (mark !== undefined && !this.#options.hasOptionalSyntax) this.#report(mark.offset, "unsupported syntax '?'");
    return mark !== undefined;
  }

  #map(): Expr {
    const open = this.#tokens.take();
    this.#tokens.sync([...EXPRESSION_START, "'}'", "','", "'?'"]);
    const entries: MapEntry[] = [];
    this.#sequence("'}'", () => {
      const isOptional = this.#optionalMark();
      this.#tokens.open("':'");
      const key = this.#expr();
      this.#tokens.close();
      const keyHeight = this.#height;
      const colon = this.#tokens.expect("':'");
      entries.push({ offset: colon.offset, key, value: this.#expr(), isOptional });
      this.#height = Math.max(keyHeight, this.#height);
    });
    return { kind: 'map', offset: open.offset, entries };
  }

  /** A variable, a call, or a message: `a`, `.a(…)`, `a.b.C{…}`. */
  #name(): Expr {
    const message = this.#messageName();
    if (message !== undefined) return this.#message(message);
    const start = this.#tokens.current;
    if (start.type === "'.'" && this.#tokens.peek(1).type !== 'IDENTIFIER') this.#tokens.failBetween(start, this.#tokens.peek(1));
    const dot = this.#tokens.takeIf("'.'");
    const name = this.#tokens.take();
    const open = this.#tokens.takeIf("'('");
    const args = open === undefined ? [] : this.#arguments();
    if (RESERVED.has(name.text)) return this.#report(start.offset, `reserved identifier: ${name.text}`);
    const fullName = (dot === undefined ? '' : '.') + name.text;
    if (open === undefined) return { kind: 'ident', offset: name.offset, name: fullName };
    return this.#call(open.offset, fullName, undefined, args);
  }

  /** How many tokens the name of a message takes, where an opening brace follows it. */
  #messageName(): number | undefined {
    let length = this.#tokens.is("'.'") ? 1 : 0;
    while (this.#tokens.peek(length).type === 'IDENTIFIER') {
      const next = this.#tokens.peek(length + 1).type;
      if (next === "'{'") return length + 1;
      if (next !== "'.'") return undefined;
      length += 2;
    }
    return undefined;
  }

  #message(nameLength: number): Expr {
    const typeName = Array.from({ length: nameLength }, () => this.#tokens.take().text).join('');
    const open = this.#tokens.take();
    this.#tokens.sync(["'}'", "','", "'?'", ...FIELD_NAME]);
    const fields: StructField[] = [];
    this.#sequence("'}'", () => {
      const isOptional = this.#optionalMark();
      this.#tokens.sync(isOptional ? FIELD_NAME : ["'?'", ...FIELD_NAME]);
      const name = this.#fieldName(this.#tokens.take()) ?? '';
      const colon = this.#tokens.expect("':'");
      fields.push({ offset: colon.offset, name, value: this.#expr(), isOptional });
    });
    return { kind: 'struct', offset: open.offset, typeName, fields };
  }

  #literal(): Expr {
    const start = this.#tokens.current;
    const isNegative = this.#tokens.takeIf("'-'") !== undefined;
    if (isNegative && !isSignedNumber(this.#tokens.current)) this.#tokens.failBetween(start, this.#tokens.current);
    this.#tokens.sync(OPERAND_START);
    const token = this.#tokens.take();
    try {
      const value = literalValue(token, isNegative);
      return typeof value === 'object' && value instanceof CelError
        ? this.#report(start.offset, value.message)
        : { kind: 'literal', offset: start.offset, value };
    } catch (error) {
      if (!(error instanceof UnescapeError)) throw error;
      return this.#report(start.offset, error.message);
    }
  }

  #call(offset: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const macro = this.#options.findMacro(name, args.length, target !== undefined);
    const plain: Expr = { kind: 'call', offset, name, target, args };
    if (macro === undefined) return plain;
    try {
      return macro.expand({ target, args, make: new ExprBuilder(offset, this.#copyBudget) }) ?? plain;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.#report(error.offset, error.message);
    }
  }
}

const FIELD_NAME: readonly TokenType[] = ['IDENTIFIER', 'ESC_IDENTIFIER'];
const ITEM_START: ReadonlySet<TokenType> = new Set<TokenType>([...EXPRESSION_START, "'?'"]);
const OPERAND_START: readonly TokenType[] = EXPRESSION_START.filter((type) => type !== "'!'");

const isSignedNumber = (token: Token): boolean => token.type === 'NUM_INT' || token.type === 'NUM_FLOAT';

/** A tree as flat as it gets, so that long chains do not nest deeply. */
function balanced(name: string, terms: readonly Expr[], offsets: readonly number[], low = 0, high = offsets.length - 1): Expr {
  if (offsets.length === 0) return terms[0]!;
  const middle = Math.trunc((low + high + 1) / 2);
  const left = middle === low ? terms[middle]! : balanced(name, terms, offsets, low, middle - 1);
  const right = middle === high ? terms[middle + 1]! : balanced(name, terms, offsets, middle + 1, high);
  return { kind: 'call', offset: offsets[middle]!, name, target: undefined, args: [left, right] };
}

function literalValue(token: Token, isNegative: boolean): CelValue {
  switch (token.type) {
    case 'NUM_INT': {
      const amount = BigInt(token.text);
      const value = checkedInt(isNegative ? -amount : amount);
      return value instanceof CelError ? new CelError('invalid int literal') : value;
    }
    case 'NUM_UINT': {
      const value = checkedUint(BigInt(token.text.slice(0, -1)));
      return value instanceof CelError ? new CelError('invalid uint literal') : value;
    }
    case 'NUM_FLOAT': {
      const value = parseFloatText((isNegative ? '-' : '') + token.text);
      return value === undefined ? new CelError('invalid double literal') : new CelDouble(value);
    }
    case 'STRING':
      return unescapeString(token.text);
    case 'BYTES':
      return unescapeBytes(token.text.slice(1));
    case "'null'":
      return null;
    default:
      return token.type === "'true'";
  }
}

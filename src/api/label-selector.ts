import { quote } from '../util/go-quote.ts';
import { LIMITS } from '../util/limits.ts';
import { aggregateMessage } from './aggregate-message.ts';
import { labelValueErrors, qualifiedNameErrors } from './names.ts';

/** A parsed label selector. Grammar and errors: apimachinery/pkg/labels. */
export interface LabelSelector {
  readonly isEmpty: boolean;
  /** In order of keys. */
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Record<string, string> | undefined): boolean;
  /** Canonical text. */
  toString(): string;
}

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  key: string;
  operator: LabelOperator;
  /** Sorted, each once. */
  values: readonly string[];
}

/** The text does not follow the grammar; the message is upstream's. */
export class SelectorSyntaxError extends Error {}

/** Every object of a list is held against every requirement, and a URL has room for a hundred thousand. */
export const tooManyRequirements = (): Error => new SelectorSyntaxError(`a selector may have at most ${LIMITS.selectorRequirements} requirements`);
const tooManyValues = (): Error => new SelectorSyntaxError(`a selector may have at most ${LIMITS.selectorValues} values`);

export const EVERY_LABEL: LabelSelector = { isEmpty: true, requirements: [], matches: () => true, toString: () => '' };

/** Throws SelectorSyntaxError. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return EVERY_LABEL;
  // Counted before tokens are made of them: commas stand between requirements and between values.
  if (hasMoreCommas(text, LIMITS.selectorRequirements + LIMITS.selectorValues)) throw tooManyValues();
  const requirements = new Parser(text).parse();
  if (requirements.length === 0) return EVERY_LABEL;
  return labelSelectorOf(requirements);
}

function hasMoreCommas(text: string, max: number): boolean {
  let count = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) if (++count > max) return true;
  return false;
}

const MANY_REQUIREMENTS = 50;

/** A selector of requirements that are known to be valid. */
export function labelSelectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  const sorted = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  // Most are parsed to be authorized or printed, and never held against labels. Of long ones, hundreds may wait for the same first change.
  let compiled: ((labels: Labels) => boolean) | undefined = sorted.length > MANY_REQUIREMENTS ? compile(sorted) : undefined;
  return {
    isEmpty: sorted.length === 0,
    requirements: sorted,
    matches: (labels) => (compiled ??= compile(sorted))(labels),
    toString: () => sorted.map(printRequirement).join(','),
  };
}

function compile(requirements: readonly LabelRequirement[]): (labels: Labels) => boolean {
  const demands = demandsOf(requirements);
  return demands.size <= FEW_KEYS ? (labels) => meetsFew(demands, labels) : meetsMany(demands);
}

/** All that a selector's requirements say of one key: however many they are, a value is looked up. */
interface Demand {
  /** The key must be there; must not be. */
  isRequired: boolean;
  isForbidden: boolean;
  /** Undefined: any. */
  wanted: ReadonlySet<string> | undefined;
  unwanted: Set<string> | undefined;
  above: bigint | undefined;
  below: bigint | undefined;
}

/** By key. */
type Demands = ReadonlyMap<string, Demand>;

function demandsOf(requirements: readonly LabelRequirement[]): Demands {
  const demands = new Map<string, Demand>();
  for (const requirement of requirements) {
    const { key } = requirement;
    let demand = demands.get(key);
    if (demand === undefined)
      demands.set(key, (demand = { isRequired: false, isForbidden: false, wanted: undefined, unwanted: undefined, above: undefined, below: undefined }));
    addTo(demand, requirement);
  }
  return demands;
}

function addTo(demand: Demand, { operator, values }: LabelRequirement): void {
  switch (operator) {
    case '!=':
    case 'notin':
      demand.unwanted ??= new Set();
      for (const value of values) demand.unwanted.add(value);
      return;
    case '!':
      demand.isForbidden = true;
      return;
    case '=':
    case '==':
    case 'in': {
      const { wanted } = demand;
      demand.wanted = new Set(wanted ? values.filter((value) => wanted.has(value)) : values);
      break;
    }
    case 'gt': {
      const bound = parseInt64(values[0] ?? '')!;
      if (demand.above === undefined || bound > demand.above) demand.above = bound;
      break;
    }
    case 'lt': {
      const bound = parseInt64(values[0] ?? '')!;
      if (demand.below === undefined || bound < demand.below) demand.below = bound;
      break;
    }
    case 'exists':
  }
  demand.isRequired = true;
}

function meets({ isRequired, isForbidden, wanted, unwanted, above, below }: Demand, value: string | undefined): boolean {
  if (value === undefined) return !isRequired;
  if (isForbidden || unwanted?.has(value) || (wanted !== undefined && !wanted.has(value))) return false;
  if (above === undefined && below === undefined) return true;
  const number = parseInt64(value);
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below);
}

/** Selectors of so many keys look for each among the labels; for those of more, each label is looked for among the keys. */
const FEW_KEYS = 8;

type Labels = Readonly<Record<string, string>> | undefined;

function meetsFew(demands: Demands, labels: Labels): boolean {
  for (const [key, demand] of demands) {
    if (!meets(demand, labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined)) return false;
  }
  return true;
}

function meetsMany(demands: Demands): (labels: Labels) => boolean {
  let required = 0;
  for (const { isRequired } of demands.values()) if (isRequired) required++;
  return (labels) => {
    let found = 0;
    for (const key of Object.keys(labels ?? {})) {
      const demand = demands.get(key);
      if (demand === undefined) continue;
      if (!meets(demand, labels![key])) return false;
      if (demand.isRequired) found++;
    }
    return found === required;
  };
}

/** As strconv.ParseInt(text, 10, 64): undefined for anything else. */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,20}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

/** `identifier`, `end`, `error`, or the symbol itself. */
type TokenType = 'identifier' | 'end' | 'error' | 'in' | 'notin' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<';

interface Token {
  type: TokenType;
  text: string;
}

const SYMBOLS: ReadonlySet<string> = new Set(['(', ')', ',', '!', '=', '==', '!=', '>', '<']);
const SYMBOL_CHARS = '=!(),><';
const WHITESPACE = ' \t\r\n';

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  // Upstream's lexer takes a NUL for the end of the text.
  const end = text.indexOf('\0') < 0 ? text.length : text.indexOf('\0');
  while (at < end) {
    const char = text[at]!;
    if (WHITESPACE.includes(char)) at++;
    else if (SYMBOL_CHARS.includes(char)) {
      const two = text.slice(at, Math.min(at + 2, end));
      const symbol = SYMBOLS.has(two) ? two : char;
      tokens.push({ type: symbol as TokenType, text: symbol });
      at += symbol.length;
    } else {
      const start = at;
      while (at < end && !WHITESPACE.includes(text[at]!) && !SYMBOL_CHARS.includes(text[at]!)) at++;
      const word = text.slice(start, at);
      tokens.push({ type: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
    }
  }
  tokens.push({ type: 'end', text: '' });
  return tokens;
}

const BINARY_OPERATORS: ReadonlyMap<TokenType, LabelOperator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

class Parser {
  readonly #tokens: Token[];
  #at = 0;
  #values = 0;
  constructor(text: string) {
    this.#tokens = scan(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.type === 'end') return requirements;
      if (token.type !== 'identifier' && token.type !== '!')
        throw new SelectorSyntaxError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      try {
        requirements.push(this.#requirement());
      } catch (error) {
        throw error instanceof SelectorSyntaxError ? new SelectorSyntaxError(`unable to parse requirement: ${error.message}`) : error;
      }
      if (requirements.length > LIMITS.selectorRequirements) throw tooManyRequirements();
      const behind = this.#take();
      if (behind.type === 'end') return requirements;
      if (behind.type !== ',') throw new SelectorSyntaxError(`found '${behind.text}', expected: ',' or 'end of string'`);
      const next = this.#peek();
      if (next.type !== 'identifier' && next.type !== '!') throw new SelectorSyntaxError(`found '${next.text}', expected: identifier after ','`);
    }
  }

  /** Keys and values may be called `in` and `notin`; only where an operator stands are they words of the grammar. */
  #peek(): Token {
    return asValue(this.#tokens[this.#at]!);
  }
  #take(): Token {
    return asValue(this.#takeOperator());
  }
  #takeOperator(): Token {
    const token = this.#tokens[this.#at]!;
    if (token.type !== 'end') this.#at++;
    return token;
  }

  #requirement(): LabelRequirement {
    let token = this.#take();
    const isNegated = token.type === '!';
    if (isNegated) token = this.#take();
    if (token.type !== 'identifier') throw new SelectorSyntaxError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyErrors = qualifiedNameErrors(key);
    // The parser has no path for the key, which Go prints as <nil>.
    if (keyErrors.length > 0) throw new SelectorSyntaxError(`<nil>: Invalid value: ${quote(key)}: ${keyErrors.join('; ')}`);
    const next = this.#peek();
    if (isNegated) return { key, operator: '!', values: [] };
    if (next.type === 'end' || next.type === ',') return { key, operator: 'exists', values: [] };

    const word = this.#takeOperator();
    const operator = BINARY_OPERATORS.get(word.type);
    if (operator === undefined) throw new SelectorSyntaxError(`found '${word.text}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? this.#valueList() : [this.#exactValue()];
    return validRequirement({ key, operator, values: [...new Set(values)].toSorted() });
  }

  #valueList(): string[] {
    const open = this.#take();
    if (open.type !== '(') throw new SelectorSyntaxError(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.type === ')') {
      this.#take();
      return [''];
    }
    if (first.type !== 'identifier' && first.type !== ',') throw new SelectorSyntaxError(`found '${first.text}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    for (;;) {
      if (this.#values + values.length > LIMITS.selectorValues) throw tooManyValues();
      const token = this.#take();
      const next = this.#peek();
      if (token.type === 'identifier') {
        values.push(token.text);
        if (next.type === ')') break;
        if (next.type !== ',') throw new SelectorSyntaxError(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.type === ',') {
        if (values.length === 0 || next.type === ',' || next.type === ')') values.push('');
        if (next.type === ')') break;
      } else throw new SelectorSyntaxError(`found '${token.text}', expected: ',', or identifier`);
    }
    this.#take();
    this.#values += values.length;
    if (this.#values > LIMITS.selectorValues) throw tooManyValues();
    return values;
  }

  #exactValue(): string {
    const next = this.#peek();
    if (next.type === 'end' || next.type === ',') return '';
    const token = this.#take();
    if (token.type !== 'identifier') throw new SelectorSyntaxError(`found '${token.text}', expected: identifier`);
    return token.text;
  }
}

const asValue = (token: Token): Token => (token.type === 'in' || token.type === 'notin' ? { type: 'identifier', text: token.text } : token);

function validRequirement(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors: string[] = [];
  if ((operator === 'gt' || operator === 'lt') && parseInt64(values[0]!) === undefined) {
    errors.push(`values[0]: Invalid value: ${quote(values[0]!)}: for 'Gt', 'Lt' operators, the value must be an integer`);
  }
  for (const [index, value] of values.entries()) {
    if (errors.length >= LIMITS.selectorErrors) break;
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) errors.push(`values[${index}][${key}]: Invalid value: ${quote(value)}: ${valueErrors.join('; ')}`);
  }
  if (errors.length > 0) throw new SelectorSyntaxError(aggregateMessage(errors));
  return requirement;
}

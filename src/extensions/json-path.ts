import { equalJson } from '../encoding/json-equal.ts';
import { isJsonObject, ownValue, stringifyJson } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';

/** Finds values in an object by one JSONPath of a definition's column or selectable field, as client-go/util/jsonpath does for what definitions allow. */
export type JsonPath = (value: Json, budget?: StepBudget) => Json[];

/** Throws BudgetExceeded: a path may go through all of an object in each of its steps, and for each item that it filters. */
type Step = (values: readonly Json[], budget: StepBudget) => Json[];

/** Broad paths (`..`, `[*]`) could find a multiple of what is there, again and again. */
const MAX_FOUND = 10_000;

/** Undefined where the text is no path. What takes more steps than the budget has finds nothing. */
export function compileJsonPath(text: string): JsonPath | undefined {
  const steps = readSteps(text);
  if (steps === undefined) return undefined;
  return (value, budget = new StepBudget(LIMITS.jsonPathSteps)) => {
    try {
      return follow(steps, value, budget);
    } catch (error) {
      if (error instanceof BudgetExceeded) return [];
      throw error;
    }
  };
}

/** No path that means something is longer than the limit; reading one takes time by the square of its length. */
const readSteps = (text: string): Step[] | undefined => (text.length > LIMITS.jsonPathCharacters ? undefined : new PathReader(text).read());

function follow(steps: readonly Step[], value: Json, budget: StepBudget): Json[] {
  let found: Json[] = [value];
  for (const step of steps) {
    budget.spend(1 + found.length);
    found = step(found, budget);
    if (found.length > MAX_FOUND) found = found.slice(0, MAX_FOUND);
  }
  return found;
}

/** The first value found, as a column or a field selector shows it; undefined for none. */
export function printFound(found: readonly Json[]): string | undefined {
  const [value] = found;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : typeof value === 'object' ? stringifyJson(value) : String(value);
}

function values(value: Json, budget: StepBudget): readonly Json[] {
  if (Array.isArray(value)) {
    budget.spend(value.length);
    return value;
  }
  if (!isJsonObject(value)) return [];
  const keys = Object.keys(value);
  budget.spend(keys.length);
  return keys.toSorted().map((key) => value[key]!);
}

const field =
  (name: string): Step =>
  (found) =>
    found.flatMap((value) => {
      const inner = isJsonObject(value) ? ownValue(value, name) : undefined;
      return inner === undefined ? [] : [inner];
    });

const everything: Step = (found, budget) => found.flatMap((value) => values(value, budget));

function descendants(found: readonly Json[], budget: StepBudget): Json[] {
  const all: Json[] = [];
  const visit = (value: Json): void => {
    if (all.length >= MAX_FOUND) return;
    all.push(value);
    values(value, budget).forEach(visit);
  };
  found.forEach(visit);
  return all;
}

/** `[1]`, `[-1]`, `[1:3]`, `[::2]`. */
function slice(text: string): Step | undefined {
  const match = /^(-?\d+)?(?:(:)(-?\d+)?(?::(\d+))?)?$/.exec(text.trim());
  if (!match || text.trim() === '') return undefined;
  const [, start, colon, end, step] = match;
  return (found, budget) =>
    found.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const from = Number(start ?? 0);
      if (colon !== undefined) budget.spend(value.length);
      if (colon === undefined) return value.slice(from, from === -1 ? undefined : from + 1);
      const stride = Number(step ?? 1) || 1;
      return value.slice(from, end === undefined ? undefined : Number(end)).filter((_item, index) => index % stride === 0);
    });
}

const COMPARISONS: Readonly<Record<string, (left: Json, right: Json) => boolean>> = {
  '==': (left, right) => equalJson(left, right),
  '!=': (left, right) => !equalJson(left, right),
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
};

/** NaN, of which every comparison is false, for what cannot be compared. */
const compare = (left: Json, right: Json): number =>
  typeof left === typeof right && left !== null && typeof left !== 'object' && right !== null ? (left < right ? -1 : left > right ? 1 : 0) : Number.NaN;

/** `?(@.type=="Ready")`, `?(@.ready)`. */
function filter(text: string): Step | undefined {
  const match = /^\?\((.*)\)$/s.exec(text.trim());
  if (!match) return undefined;
  const inside = match[1]!;
  const operator = /==|!=|<=|>=|<|>/.exec(inside);
  const leftOf = operand((operator === null ? inside : inside.slice(0, operator.index)).trim());
  if (leftOf === undefined) return undefined;
  if (operator === null) return (found, budget) => found.flatMap((value) => values(value, budget).filter((item) => leftOf(item, budget).length > 0));
  const rightOf = operand(inside.slice(operator.index + operator[0].length).trim());
  if (rightOf === undefined) return undefined;
  const isSuch = COMPARISONS[operator[0]]!;
  return (found, budget) =>
    found.flatMap((value) =>
      values(value, budget).filter((item) => {
        const [[a], [b]] = [leftOf(item, budget), rightOf(item, budget)];
        return a !== undefined && b !== undefined && isSuch(a, b);
      }),
    );
}

function operand(text: string): ((item: Json, budget: StepBudget) => Json[]) | undefined {
  if (text.startsWith('@')) {
    const steps = readSteps(text.slice(1));
    return steps && ((item, budget) => follow(steps, item, budget));
  }
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted) return () => [quoted[2]!];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  return text !== '' && !Number.isNaN(Number(text)) ? () => [Number(text)] : undefined;
}

class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.startsWith('$') ? text.slice(1) : text;
  }

  read(): Step[] | undefined {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const step = this.#step();
      if (step === undefined) return undefined;
      steps.push(...step);
    }
    return steps;
  }

  #step(): Step[] | undefined {
    const text = this.#text;
    if (text.startsWith('..', this.#at)) {
      this.#at += 2;
      if (text[this.#at] === '[') return [descendants];
      const name = this.#name();
      return name === '' ? undefined : [descendants, name === '*' ? everything : field(name)];
    }
    if (text[this.#at] === '[') return this.#bracket();
    if (text[this.#at] !== '.') return undefined;
    this.#at++;
    if (text[this.#at] === '[' || this.#at === text.length) return [];
    const name = this.#name();
    return name === '' ? undefined : [name === '*' ? everything : field(name)];
  }

  /** Up to the next dot or bracket; a backslash keeps what follows it. */
  #name(): string {
    let name = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]!;
      if (char === '.' || char === '[') break;
      name += char === '\\' ? (this.#text[++this.#at] ?? '') : char;
    }
    return name;
  }

  #bracket(): Step[] | undefined {
    const end = this.#closingBracket();
    if (end < 0) return undefined;
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    if (inside === '*') return [everything];
    const quoted = /^(['"])(.*)\1$/s.exec(inside);
    if (quoted) return [field(quoted[2]!.replaceAll(/\\(.)/gs, '$1'))];
    const step = filter(inside) ?? slice(inside);
    return step && [step];
  }

  /** Quotes and brackets inside do not count. */
  #closingBracket(): number {
    let depth = 0;
    let quote = '';
    for (let at = this.#at; at < this.#text.length; at++) {
      const char = this.#text[at]!;
      if (char === '\\') at++;
      else if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === '"' || char === "'") quote = char;
      else if (char === '[') depth++;
      else if (char === ']' && --depth === 0) return at;
    }
    return -1;
  }
}

import { equalJson } from '../util/json-equal.ts';
import { isJsonObject, ownValue, stringifyJson } from '../util/json.ts';
import type { Json } from '../util/json-types.ts';

/** Finds values in an object by one JSONPath of a definition's column or selectable field, as client-go/util/jsonpath does for what definitions allow. */
export type JsonPath = (value: Json) => Json[];

type Step = (values: readonly Json[]) => Json[];

/** Broad paths (`..`, `[*]`) could find a multiple of what is there, again and again. */
const MAX_FOUND = 10_000;
/** No path that means something is longer; reading one takes time by the square of its length. */
const MAX_PATH_LENGTH = 4_096;

/** Undefined where the text is no path. */
export function compileJsonPath(text: string): JsonPath | undefined {
  if (text.length > MAX_PATH_LENGTH) return undefined;
  const steps = new PathReader(text).read();
  if (steps === undefined) return undefined;
  return (value) => steps.reduce<Json[]>((values, step) => step(values).slice(0, MAX_FOUND), [value]);
}

/** The first value found, as a column or a field selector shows it; undefined for none. */
export function printFound(found: readonly Json[]): string | undefined {
  const [value] = found;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : typeof value === 'object' ? stringifyJson(value) : String(value);
}

const values = (value: Json): Json[] =>
  Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? Object.keys(value)
          .toSorted()
          .map((key) => value[key]!)
      : [];

const field =
  (name: string): Step =>
  (found) =>
    found.flatMap((value) => {
      const inner = isJsonObject(value) ? ownValue(value, name) : undefined;
      return inner === undefined ? [] : [inner];
    });

const everything: Step = (found) => found.flatMap(values);

function descendants(found: readonly Json[]): Json[] {
  const all: Json[] = [];
  const visit = (value: Json): void => {
    if (all.length >= MAX_FOUND) return;
    all.push(value);
    values(value).forEach(visit);
  };
  found.forEach(visit);
  return all;
}

/** `[1]`, `[-1]`, `[1:3]`, `[::2]`. */
function slice(text: string): Step | undefined {
  const match = /^(-?\d+)?(?:(:)(-?\d+)?(?::(\d+))?)?$/.exec(text.trim());
  if (!match || text.trim() === '') return undefined;
  const [, start, colon, end, step] = match;
  return (found) =>
    found.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const from = Number(start ?? 0);
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
  const [, left = '', operator, right = ''] = /^(.*?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/s.exec(match[1]!) ?? [undefined, match[1]];
  const leftOf = operand(left.trim());
  if (leftOf === undefined) return undefined;
  if (operator === undefined) return (found) => found.flatMap((value) => values(value).filter((item) => leftOf(item).length > 0));
  const rightOf = operand(right.trim());
  if (rightOf === undefined) return undefined;
  const isSuch = COMPARISONS[operator]!;
  return (found) =>
    found.flatMap((value) =>
      values(value).filter((item) => {
        const [[a], [b]] = [leftOf(item), rightOf(item)];
        return a !== undefined && b !== undefined && isSuch(a, b);
      }),
    );
}

function operand(text: string): JsonPath | undefined {
  if (text.startsWith('@')) return compileJsonPath(text.slice(1));
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

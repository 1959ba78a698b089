import { quote } from '../../util/go-quote.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';

/**
 * One step of a path, in the text by which FieldsV1 writes it: `f:name` a field or a key of a map, `k:{"name":"app"}` an item of a list by its keys,
 * `v:"x"` an item of a set, `i:0` an item by its place. The text is the element: two that are written alike are the same.
 */
export type PathElement = string;

/** An element that cannot be read. Elements of a type that nobody knows yet are no error: see `parseElement`. */
export class ElementError extends Error {}

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: Json): PathElement => `v:${stringifyJson(value)}`;

/** In its canonical text; undefined where its type is unknown, which is to be passed over (fieldpath/serialize-pe.go). */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new ElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new ElementError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parsed(text));
    case 'k':
      return keyElement(parsed(text));
    case 'i':
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new ElementError(`strconv.Atoi: parsing ${quote(text.slice(2))}: invalid syntax`);
      return `i:${Number(text.slice(2))}`;
    default:
      return undefined;
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text.slice(2));
  } catch (error) {
    throw new ElementError((error as Error).message);
  }
}

/** Keys are written in the order of their names. */
function keyElement(keys: Json): PathElement {
  if (!isJsonObject(keys)) throw new ElementError('expect { after k:');
  const sorted = Object.keys(keys).toSorted(compareText);
  return `k:{${sorted.map((name) => `${stringifyJson(name)}:${stringifyJson(keys[name])}`).join(',')}}`;
}

const RANKS = 'fkvi';

/** The order in which FieldsV1 has the members of a set: fields, keys, values, places; numbers by their size. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  if (a[0] !== b[0]) return RANKS.indexOf(a[0]!) - RANKS.indexOf(b[0]!);
  if (a[0] === 'f') return compareText(a, b);
  return compareFirstKeys(a, b) || compareParts(partsOf(a), partsOf(b));
}

/** A first key that is a plain text or a plain whole number. */
const FIRST_KEY = /^k:\{"([^"\\]*)":(?:"([^"\\]*)"|(\d{1,15})[,}])/;

/** Most keys are told apart by their first, which need not be parsed for it. 0 where it does not decide. */
function compareFirstKeys(a: PathElement, b: PathElement): number {
  const [left, right] = [FIRST_KEY.exec(a), FIRST_KEY.exec(b)];
  if (left === null || right === null) return 0;
  return compareText(left[1]!, right[1]!) || compareValues(left[2] ?? Number(left[3]), right[2] ?? Number(right[3]));
}

/** In the order of `compareElements`. Each is taken apart once, however often it is compared. */
export const sortedElements = (elements: readonly PathElement[]): PathElement[] =>
  elements
    .map(partsOf)
    .toSorted(compareParts)
    .map(({ element }) => element);

/** What decides the place of an element: names and values that are compared pair by pair. Only keys have names. */
interface ElementParts {
  readonly element: PathElement;
  readonly rank: number;
  readonly names: readonly string[];
  readonly values: readonly Json[];
}

const NO_NAMES: readonly string[] = [];

/** One key, whose value is a plain text or a plain whole number: as most are, and need not be parsed. */
const ONLY_KEY = /^k:\{"([^"\\]*)":(?:"([^"\\]*)"|(\d{1,15}))\}$/;
const PLAIN_TEXT = /^v:"[^"\\]*"$/;

function partsOf(element: PathElement): ElementParts {
  const rank = RANKS.indexOf(element[0]!);
  if (element[0] !== 'k') return { element, rank, names: NO_NAMES, values: [valueOf(element)] };
  const only = ONLY_KEY.exec(element);
  if (only !== null) return { element, rank, names: [only[1]!], values: [only[2] ?? Number(only[3])] };
  const keys = JSON.parse(element.slice(2)) as JsonObject;
  const names = Object.keys(keys).toSorted(compareText);
  return { element, rank, names, values: names.map((name) => keys[name]!) };
}

function valueOf(element: PathElement): Json {
  if (element[0] === 'f') return element;
  if (PLAIN_TEXT.test(element)) return element.slice(3, -1);
  const text = element.slice(2);
  return element[0] === 'i' ? Number(text) : (JSON.parse(text) as Json);
}

function compareParts(a: ElementParts, b: ElementParts): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  const length = Math.min(a.values.length, b.values.length);
  for (let i = 0; i < length; i++) {
    const order = (a.names === NO_NAMES ? 0 : compareText(a.names[i]!, b.names[i]!)) || compareValues(a.values[i]!, b.values[i]!);
    if (order !== 0) return order;
  }
  return a.values.length - b.values.length;
}

const rankOf = (value: Json): number => {
  if (typeof value === 'number' || typeof value === 'bigint') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  return value === null ? 4 : 3;
};

/** Numbers before texts before booleans before the rest (value.Compare). */
function compareValues(a: Json, b: Json): number {
  const order = rankOf(a) - rankOf(b);
  if (order !== 0) return order;
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'object') return compareText(stringifyJson(a), stringifyJson(b));
  return a < b! ? -1 : a > b! ? 1 : 0;
}

const FIRST_SURROGATE = 0xd800;

/** As Go compares strings: by their bytes in UTF-8, which is the order of UTF-16 too, but for surrogates. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left === right) continue;
    return left >= FIRST_SURROGATE && right >= FIRST_SURROGATE ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : left - right;
  }
  return a.length - b.length;
}

/** `.name`, `[name="app"]`, `[="x"]`, `[0]`: as messages show it. */
export function showElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k':
      return `[${Object.entries(parseJson(content) as JsonObject)
        .map(([name, value]) => `${name}=${showValue(value!)}`)
        .join(',')}]`;
    case 'v':
      return `[=${showValue(parseJson(content))}]`;
    default:
      return `[${content}]`;
  }
}

export const showPath = (path: readonly PathElement[]): string => path.map(showElement).join('');

function showValue(value: Json): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(showValue).join(',')}]`;
  if (isJsonObject(value))
    return Object.entries(value)
      .map(([key, item]) => `${key}=${showValue(item!)}`)
      .join('');
  return String(value);
}

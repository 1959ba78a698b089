import { quote } from '../../util/field-errors.ts';
import { isJsonObject, parseJson, stringifyJson } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';

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
  if (a[0] === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  const [left, right] = [ONE_TEXT_KEY.exec(a), ONE_TEXT_KEY.exec(b)];
  if (left !== null && right !== null) return compareText(left[1]!, right[1]!) || compareText(left[2]!, right[2]!);
  return compareContents(JSON.parse(a.slice(2)) as Json, JSON.parse(b.slice(2)) as Json, a[0] === 'k');
}

/** Most keys are one name, and need not be parsed to be compared. */
const ONE_TEXT_KEY = /^k:\{"([^"\\]*)":"([^"\\]*)"\}$/;

const compareContents = (a: Json, b: Json, areKeys: boolean): number => (areKeys ? compareKeys(a as JsonObject, b as JsonObject) : compareValues(a, b));

function compareKeys(a: JsonObject, b: JsonObject): number {
  const [left, right] = [Object.keys(a).toSorted(compareText), Object.keys(b).toSorted(compareText)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareText(left[i]!, right[i]!) || compareValues(a[left[i]!]!, b[right[i]!]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
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

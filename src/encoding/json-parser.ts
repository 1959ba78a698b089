import { LIMITS } from '../util/limits.ts';
import { quote } from '../util/go-quote.ts';
import type { Json, JsonObject } from './json-types.ts';

/**
 * Text that is not JSON. The message is worded as Go's encoding/json words it (scanner.go), since clients are shown it.
 */
export class JsonError extends Error {}

/** Input that has more of something than may be read, well-formed or not. Whoever answers clients tells them so with 413. */
export class InputTooLarge extends Error {
  readonly limit: string;
  constructor(limit: string) {
    super(`Request entity too large: ${limit}`);
    this.limit = limit;
  }
}

/** The objects that name a key more than once. The last value of a key wins. */
export type DuplicateKeys = Map<JsonObject, Repeats>;

export interface Repeats {
  /** All keys as written, repeats included. */
  written: string[];
  /** What later values took the place of, in the order of the text, with the literal of a number where that is noted. Of JSON alone. */
  replaced: [key: string, value: Json, literal?: string][];
}

/**
 * Numbers that were written otherwise than this server writes them (`1e1`, `1.0`), by the object or list that holds them and their key or index there.
 * Go's decoder reads numbers from their text: `1.0` is no int32, and the quantity 1e3 is not 1k.
 */
export type NumberLiterals = Map<JsonObject | Json[], Map<string | number, string>>;

/**
 * Deeper nesting is refused. Upstream refuses at 10,000 on stacks that grow; ours do not, and everything that walks a value must come back from
 * the deepest that is let in.
 */
export const MAX_DEPTH = LIMITS.bodyDepth;

/**
 * What one body may hold, in whatever form it comes: each value costs time in every step of a write, during which nobody else is served, and a body
 * of three mebibytes has room for a million. What fits into etcd's 1.5 MiB has less, but for made-up objects.
 */
export const MAX_VALUES = LIMITS.bodyValues;
/** Objects of more keys are hash tables to V8, and every key of theirs costs as much as so many values. */
export const LARGE_OBJECT_KEYS = 1_000;
export const LARGE_OBJECT_KEY_VALUES = 5;

export const tooManyValues = (): Error => new InputTooLarge(`limit is ${MAX_VALUES} values`);

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** A longer literal cannot fit; reading it exactly would take time that grows with its square. */
const MAX_INT64_LENGTH = '-9223372036854775808'.length;
/** Integers of so many digits are exact as a `number`. */
const SAFE_DIGITS = 15;

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LOWER_E = 101;
const LOWER_U = 117;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const LITERALS: Record<string, { word: string; value: Json }> = {
  t: { word: 'true', value: true },
  f: { word: 'false', value: false },
  n: { word: 'null', value: null },
};
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const LONE_SURROGATES = /\p{Surrogate}/gu;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/**
 * The text being read and how far. Kept here rather than in an object, which measures twice as slow; reading never yields, so no two readings meet.
 * As it is, this takes 1.5 times as long as JSON.parse, which can neither see repeated keys nor keep large integers.
 */
let text = '';
let position = 0;
let depth = 0;
let valuesLeft = 0;
let duplicates: DuplicateKeys | undefined;
let literals: NumberLiterals | undefined;
/** The number just read, where it was not written as this server writes it. */
let oddLiteral: string | undefined;
/** The first number that no float64 holds: Go finds out when the whole text has been read. */
let overflow: string | undefined;

/** The whole of `source` as one value. With `repeated`, it is a client's and bounded in its values. Where `numbers` is given, their texts are noted, and one that no float64 holds is infinite. */
export function parseDocument(source: string, repeated: DuplicateKeys | undefined, numbers?: NumberLiterals): Json {
  text = source;
  position = 0;
  depth = 0;
  valuesLeft = repeated === undefined ? Infinity : MAX_VALUES;
  duplicates = repeated;
  literals = numbers;
  oddLiteral = undefined;
  overflow = undefined;
  try {
    const value = parseValue();
    skipSpace();
    if (position < text.length) fail('after top-level value');
    if (overflow !== undefined && numbers === undefined) throw noFloat(overflow);
    return value;
  } finally {
    text = '';
    duplicates = undefined;
    literals = undefined;
  }
}

/** A number that no float64 holds, where one is asked for. */
export const noFloat = (literal: string, place = 'Go value'): JsonError =>
  new JsonError(`json: cannot unmarshal number ${literal} into ${place} of type float64`);

/** Answers the code of the next character that means something; NaN at the end. */
function skipSpace(): number {
  let code = text.charCodeAt(position);
  while (code === SPACE || code === NEWLINE || code === RETURN || code === TAB) code = text.charCodeAt(++position);
  return code;
}

function parseValue(): Json {
  if (--valuesLeft < 0) throw tooManyValues();
  const code = skipSpace();
  if (code === QUOTE) return parseString();
  if (code === OPEN_BRACE) return parseObject();
  if (code === OPEN_BRACKET) return parseArray();
  if (isDigit(code) || code === MINUS) return parseNumber(code);
  return parseLiteral();
}

function parseObject(): JsonObject {
  enter();
  const object: JsonObject = {};
  if (skipSpace() === CLOSE_BRACE) return leave(object);
  let repeats: Repeats | undefined;
  for (let count = 1; ; count++) {
    if (skipSpace() !== QUOTE) fail('looking for beginning of object key string');
    if (count > LARGE_OBJECT_KEYS) valuesLeft -= LARGE_OBJECT_KEY_VALUES - 1;
    const key = parseString();
    if (skipSpace() !== COLON) fail('after object key');
    position++;
    if (Object.hasOwn(object, key)) {
      repeats ??= noteRepeats(object);
      const literal = takeLiteral(object, key);
      repeats.replaced.push(literal === undefined ? [key, object[key]!] : [key, object[key]!, literal]);
    }
    if (repeats !== undefined) repeats.written.push(key);
    if (key === '__proto__') defineProto(object, parseValue());
    else object[key] = parseValue();
    if (oddLiteral !== undefined) noteOddLiteral(object, key);
    const code = skipSpace();
    if (code === CLOSE_BRACE) return leave(object);
    if (code !== COMMA) fail('after object key:value pair');
    position++;
  }
}

/** Answers what the object's keys are added to from now on. */
function noteRepeats(object: JsonObject): Repeats {
  const repeats: Repeats = { written: Object.keys(object), replaced: [] };
  duplicates?.set(object, repeats);
  return repeats;
}

function noteOddLiteral(container: JsonObject | Json[], key: string | number): void {
  if (literals !== undefined) noteLiteral(literals, container, key, oddLiteral!);
  oddLiteral = undefined;
}

/** The literal of a value that another takes the place of is not that one's. */
function takeLiteral(object: JsonObject, key: string): string | undefined {
  const noted = literals?.get(object);
  const literal = noted?.get(key);
  noted?.delete(key);
  return literal;
}

export function noteLiteral(into: NumberLiterals, container: JsonObject | Json[], key: string | number, literal: string): void {
  const noted = into.get(container);
  if (noted === undefined) into.set(container, new Map([[key, literal]]));
  else noted.set(key, literal);
}

/** Plain assignment would set the prototype. */
function defineProto(object: JsonObject, value: Json): void {
  Object.defineProperty(object, '__proto__', { value, writable: true, enumerable: true, configurable: true });
}

function parseArray(): Json[] {
  enter();
  const items: Json[] = [];
  if (skipSpace() === CLOSE_BRACKET) return leave(items);
  for (;;) {
    items.push(parseValue());
    if (oddLiteral !== undefined) noteOddLiteral(items, items.length - 1);
    const code = skipSpace();
    if (code === CLOSE_BRACKET) return leave(items);
    if (code !== COMMA) fail('after array element');
    position++;
  }
}

function enter(): void {
  if (++depth > MAX_DEPTH) fail('exceeded max depth');
  position++;
}

function leave<T>(value: T): T {
  depth--;
  position++;
  return value;
}

function parseString(): string {
  const start = ++position;
  let at = start;
  let code = text.charCodeAt(at);
  while (code >= SPACE && code !== QUOTE && code !== BACKSLASH) code = text.charCodeAt(++at);
  position = at;
  if (code !== QUOTE) return parseEscapedString(start);
  position++;
  return text.slice(start, at);
}

/** A string that `position` has reached the first escape of. Halves of surrogate pairs become U+FFFD, as in Go. */
function parseEscapedString(start: number): string {
  let out = '';
  let from = start;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) break;
    if (code === BACKSLASH) {
      out += text.slice(from, position++) + parseEscape();
      from = position;
    } else if (code >= SPACE) position++;
    else fail('in string literal');
  }
  out += text.slice(from, position++);
  return out.replace(LONE_SURROGATES, '\ufffd');
}

function parseEscape(): string {
  const letter = text.charAt(position);
  if (letter.charCodeAt(0) === LOWER_U) {
    position++;
    return String.fromCharCode(parseHexadecimal());
  }
  if (!Object.hasOwn(ESCAPES, letter)) fail('in string escape code');
  position++;
  return ESCAPES[letter]!;
}

function parseHexadecimal(): number {
  let code = 0;
  for (let digits = 0; digits < 4; digits++) {
    const digit = Number.parseInt(text.charAt(position), 16);
    if (Number.isNaN(digit)) fail('in \\u hexadecimal character escape');
    code = code * 16 + digit;
    position++;
  }
  return code;
}

function parseNumber(first: number): number | bigint {
  const start = position;
  if (first === MINUS) position++;
  const digitsFrom = position;
  const leading = text.charCodeAt(position);
  if (!isDigit(leading)) fail('in numeric literal');
  if (leading === ZERO) position++;
  else skipDigits();
  const code = text.charCodeAt(position);
  // 32 is the distance between the cases of a letter.
  if (code === DOT || (code | 32) === LOWER_E) return parseFloat(start);
  const literal = text.slice(start, position);
  return position - digitsFrom <= SAFE_DIGITS ? Number(literal) : largeInteger(literal);
}

function skipDigits(): void {
  while (isDigit(text.charCodeAt(position))) position++;
}

function parseFloat(start: number): number {
  if (text.charCodeAt(position) === DOT) {
    position++;
    if (!isDigit(text.charCodeAt(position))) fail('after decimal point in numeric literal');
    skipDigits();
  }
  if ((text.charCodeAt(position) | 32) === LOWER_E) {
    const sign = text.charCodeAt(++position);
    if (sign === PLUS || sign === MINUS) position++;
    if (!isDigit(text.charCodeAt(position))) fail('in exponent of numeric literal');
    skipDigits();
  }
  return finite(text.slice(start, position));
}

function parseLiteral(): Json {
  const first = text.charAt(position);
  if (!Object.hasOwn(LITERALS, first)) fail('looking for beginning of value');
  const { word, value } = LITERALS[first]!;
  for (let letters = 0; letters < word.length; letters++) {
    if (text[position] !== word[letters]) fail(`in literal ${word} (expecting '${word[letters]}')`);
    position++;
  }
  return value;
}

function fail(context: string): never {
  const character = text.charAt(position);
  if (character === '') throw new JsonError('unexpected end of JSON input');
  throw new JsonError(`invalid character ${quoteCharacter(character)} ${context}`);
}

/** Exact as far as Go's int64 reaches, and a float64 beyond, as sigs.k8s.io/json decodes into an interface. */
function largeInteger(literal: string): number | bigint {
  if (literal.length > MAX_INT64_LENGTH) return finite(literal);
  const integer = BigInt(literal);
  if (integer >= BigInt(Number.MIN_SAFE_INTEGER) && integer <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(integer);
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : finite(literal);
}

function finite(literal: string): number {
  const value = Number(literal);
  if (!Number.isFinite(value)) overflow ??= literal;
  if (String(value) !== literal) oddLiteral = literal;
  return value;
}

const quoteCharacter = (character: string): string => (character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${quote(character).slice(1, -1)}'`);

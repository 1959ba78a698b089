import { LIMITS } from '../util/limits.ts';
import { quote } from '../util/go-quote.ts';
import type { SlicedWork } from '../util/time-slice.ts';
import type { Json, JsonObject } from './json-types.ts';

/**
 * Text that is not JSON. The message is that of Go's encoding/json (scanner.go), since clients are shown it.
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

/** Nobody needs so many digits, and an error that names the number would be as long as the body. */
const MAX_NUMBER_LENGTH = LIMITS.numberCharacters;

/** What is inside of so many others costs as a value more, and one more for each so many: JSON.stringify looks at all around it for itself. */
const DEEP_LEVELS = 100;

/** Values that a list or an object costs beside itself. */
export const valuesOfDepth = (levels: number): number => (levels < DEEP_LEVELS ? 0 : Math.floor(levels / DEEP_LEVELS));

export const tooManyValues = (max = MAX_VALUES): Error => new InputTooLarge(`limit is ${max} values`);

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
/** What may stand behind a backslash, beside the u of a number. */
const ESCAPED = ['"', '\\', '/', 'b', 'f', 'n', 'r', 't'];

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Values that are read before others may have their turn: a millisecond's. */
const VALUES_A_STEP = 1_000;

/** A list or an object that is being read while others have their turn. */
type OpenContainer = { items: Json[] } | { object: JsonObject; key: string; keys: number; repeats: Repeats | undefined };

/**
 * The text being read and how far. Kept here rather than in an object, which measures twice as slow; where others have their turn, it is put aside.
 * As it is, this takes 1.5 times as long as JSON.parse, which can neither see repeated keys nor keep large integers.
 */
let text = '';
let position = 0;
let depth = 0;
let valuesLeft = 0;
/** With fewer values left, the reading stops: for good, or until others had their turn. */
let stopsBelow = 0;
let duplicates: DuplicateKeys | undefined;
let literals: NumberLiterals | undefined;
/** The number just read, where it was not written as this server writes it. */
let oddLiteral: string | undefined;
/** The first number that no float64 holds: Go finds out when the whole text has been read. */
let overflow: string | undefined;
/** What is open where the reading has stopped, innermost first. */
let open: OpenContainer[] = [];

/** The whole of `source` as one value. With `repeated`, it is a client's and bounded in its values. Where `numbers` is given, their texts are noted, and one that no float64 holds is infinite. */
export function parseDocument(source: string, repeated: DuplicateKeys | undefined, numbers?: NumberLiterals): Json {
  begin(source, repeated, numbers);
  try {
    return ended(parseValue()!);
  } finally {
    forget();
  }
}

/** The same for a text that may be long: others may have their turn, in which other texts are read. */
export function* parseDocumentInSteps(
  source: string,
  repeated: DuplicateKeys | undefined,
  numbers?: NumberLiterals,
  valuesAStep = VALUES_A_STEP,
): SlicedWork<Json> {
  begin(source, repeated, numbers);
  try {
    stopsBelow = Math.max(0, valuesLeft - valuesAStep);
    let value = parseValue();
    while (value === undefined) {
      const takeUp = putAside();
      yield;
      const containers = takeUp();
      stopsBelow = Math.max(0, valuesLeft - valuesAStep);
      value = goOnIn(containers);
    }
    return ended(value);
  } finally {
    forget();
  }
}

function begin(source: string, repeated: DuplicateKeys | undefined, numbers: NumberLiterals | undefined): void {
  text = source;
  position = 0;
  depth = 0;
  valuesLeft = repeated === undefined ? Number.MAX_SAFE_INTEGER : MAX_VALUES;
  stopsBelow = 0;
  duplicates = repeated;
  literals = numbers;
  oddLiteral = undefined;
  overflow = undefined;
}

function ended(value: Json): Json {
  skipSpace();
  if (position < text.length) fail('after top-level value');
  if (overflow !== undefined && literals === undefined) throw noFloat(overflow);
  return value;
}

function forget(): void {
  text = '';
  duplicates = undefined;
  literals = undefined;
}

/** Answers what takes it up again, and tells what was open. */
function putAside(): () => OpenContainer[] {
  const state = { text, position, depth, valuesLeft, duplicates, literals, overflow, open };
  forget();
  open = [];
  return () => {
    ({ text, position, depth, valuesLeft, duplicates, literals, overflow } = state);
    oddLiteral = undefined;
    return state.open;
  };
}

/** From the value on that the reading has stopped before, to the end of the outermost container; undefined where it stops again. */
function goOnIn(containers: readonly OpenContainer[]): Json | undefined {
  let value = parseValue();
  let closed = 0;
  while (value !== undefined && closed < containers.length) value = goOnAfter(value, containers[closed++]!);
  if (value === undefined) open.push(...containers.slice(closed));
  return value;
}

function goOnAfter(value: Json, container: OpenContainer): Json | undefined {
  if ('items' in container) return addItem(container.items, value) ? parseItems(container.items) : container.items;
  const { object, key, keys, repeats } = container;
  return setMember(object, key, value) ? parseMembers(object, keys, repeats) : object;
}

/** Undefined is what every function here answers with on the way out of a reading that has stopped. */
function stopIn(container: OpenContainer): undefined {
  open.push(container);
}

/** Whether the reading stops before the next value. */
function isStop(): boolean {
  if (valuesLeft < 0) throw tooManyValues();
  valuesLeft++;
  return true;
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

function parseValue(): Json | undefined {
  if (--valuesLeft < stopsBelow && isStop()) return undefined;
  const code = skipSpace();
  if (code === QUOTE) return parseString();
  if (code === OPEN_BRACE) return parseObject();
  if (code === OPEN_BRACKET) return parseArray();
  if (isDigit(code) || code === MINUS) return parseNumber(code);
  return parseLiteral();
}

function parseObject(): JsonObject | undefined {
  enter();
  const object: JsonObject = {};
  if (skipSpace() === CLOSE_BRACE) return leave(object);
  return parseMembers(object, 0, undefined);
}

/** From a key on; `keys` have been read before it. */
function parseMembers(object: JsonObject, keys: number, repeats: Repeats | undefined): JsonObject | undefined {
  for (;;) {
    if (skipSpace() !== QUOTE) fail('looking for beginning of object key string');
    if (++keys > LARGE_OBJECT_KEYS) valuesLeft -= LARGE_OBJECT_KEY_VALUES - 1;
    const key = parseString();
    if (skipSpace() !== COLON) fail('after object key');
    position++;
    if (Object.hasOwn(object, key)) {
      repeats ??= noteRepeats(object);
      const literal = takeLiteral(object, key);
      repeats.replaced.push(literal === undefined ? [key, object[key]!] : [key, object[key]!, literal]);
    }
    if (repeats !== undefined) repeats.written.push(key);
    const value = parseValue();
    if (value === undefined) return stopIn({ object, key, keys, repeats });
    if (!setMember(object, key, value)) return object;
  }
}

/** Answers whether another member follows. */
function setMember(object: JsonObject, key: string, value: Json): boolean {
  if (key === '__proto__') defineProto(object, value);
  else object[key] = value;
  if (oddLiteral !== undefined) noteOddLiteral(object, key);
  const code = skipSpace();
  if (code !== COMMA && code !== CLOSE_BRACE) fail('after object key:value pair');
  return goesOn(code);
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

function parseArray(): Json[] | undefined {
  enter();
  const items: Json[] = [];
  if (skipSpace() === CLOSE_BRACKET) return leave(items);
  return parseItems(items);
}

function parseItems(items: Json[]): Json[] | undefined {
  for (;;) {
    const value = parseValue();
    if (value === undefined) return stopIn({ items });
    if (!addItem(items, value)) return items;
  }
}

/** Answers whether another item follows. */
function addItem(items: Json[], value: Json): boolean {
  items.push(value);
  if (oddLiteral !== undefined) noteOddLiteral(items, items.length - 1);
  const code = skipSpace();
  if (code !== COMMA && code !== CLOSE_BRACKET) fail('after array element');
  return goesOn(code);
}

/** Behind a value of a container: a comma, or its end. */
function goesOn(code: number): boolean {
  position++;
  if (code === COMMA) return true;
  depth--;
  return false;
}

function enter(): void {
  if (++depth > MAX_DEPTH) fail('exceeded max depth');
  valuesLeft -= valuesOfDepth(depth);
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

/**
 * A string that `position` has reached the first escape of. Halves of surrogate pairs become U+FFFD, as in Go. V8 puts it together in a tenth of the time,
 * and refuses the same, but does not say why in Go's words.
 */
function parseEscapedString(start: number): string {
  const first = position;
  const end = endOfString();
  const string = end < 0 ? undefined : unescaped(text.slice(start - 1, end + 1));
  if (string === undefined) failInString(first);
  position = end + 1;
  return string.toWellFormed();
}

/** Where the quote stands that ends the string; -1 where none does. */
function endOfString(): number {
  for (let at = position; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return -1;
}

function unescaped(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** Finds what is wrong behind the first escape. */
function failInString(firstEscape: number): never {
  for (position = firstEscape; ; position++) {
    const code = text.charCodeAt(position);
    if (code === BACKSLASH) checkEscape();
    else if (!(code >= SPACE)) fail('in string literal');
  }
}

function checkEscape(): void {
  const letter = text.charCodeAt(++position);
  if (letter === LOWER_U) for (let digits = 0; digits < 4; digits++) checkHexadecimal();
  else if (Number.isNaN(letter) || !ESCAPED.includes(text.charAt(position))) failInToken('in string escape code');
}

function checkHexadecimal(): void {
  position++;
  if (Number.isNaN(Number.parseInt(text.charAt(position), 16))) failInToken('in \\u hexadecimal character escape');
}

function parseNumber(first: number): number | bigint {
  const start = position;
  if (first === MINUS) position++;
  const digitsFrom = position;
  const leading = text.charCodeAt(position);
  if (!isDigit(leading)) failInToken('in numeric literal');
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
    if (!isDigit(text.charCodeAt(position))) failInToken('after decimal point in numeric literal');
    skipDigits();
  }
  if ((text.charCodeAt(position) | 32) === LOWER_E) {
    const sign = text.charCodeAt(++position);
    if (sign === PLUS || sign === MINUS) position++;
    if (!isDigit(text.charCodeAt(position))) failInToken('in exponent of numeric literal');
    skipDigits();
  }
  return finite(text.slice(start, position));
}

function parseLiteral(): Json {
  const first = text.charAt(position);
  if (!Object.hasOwn(LITERALS, first)) fail('looking for beginning of value');
  const { word, value } = LITERALS[first]!;
  for (let letters = 0; letters < word.length; letters++) {
    if (text[position] !== word[letters]) failInToken(`in literal ${word} (expecting '${word[letters]}')`);
    position++;
  }
  return value;
}

function fail(context: string): never {
  const character = text.charAt(position);
  if (character === '') throw new JsonError('unexpected end of JSON input');
  throw new JsonError(`invalid character ${quoteCharacter(character)} ${context}`);
}

/** The same where a space may not stand: Go's scanner takes the end of the text for one. */
function failInToken(context: string): never {
  throw new JsonError(`invalid character ${quoteCharacter(text.charAt(position) || ' ')} ${context}`);
}

/** Exact as far as Go's int64 reaches, and a float64 beyond, as sigs.k8s.io/json decodes into an interface. */
function largeInteger(literal: string): number | bigint {
  if (literal.length > MAX_INT64_LENGTH) return finite(literal);
  const integer = BigInt(literal);
  if (integer >= BigInt(Number.MIN_SAFE_INTEGER) && integer <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(integer);
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : finite(literal);
}

function finite(literal: string): number {
  // Repeated keys are asked for in bodies alone: what is read of them further on (a schema's default, what was stored) was let in.
  if (literal.length > MAX_NUMBER_LENGTH && duplicates !== undefined) throw new InputTooLarge(`limit is ${MAX_NUMBER_LENGTH} characters of a number`);
  const value = Number(literal);
  if (!Number.isFinite(value)) overflow ??= literal;
  if (String(value) !== literal) oddLiteral = literal;
  return value;
}

const quoteCharacter = (character: string): string => (character === "'" ? "'\\''" : character === '"' ? `'"'` : `'${quote(character).slice(1, -1)}'`);

import { type SlicedWork, runSliced } from '../util/time-slice.ts';
import { type DuplicateKeys, type NumberLiterals, type Repeats, JsonError, parseDocument, parseDocumentInSteps } from './json-parser.ts';
import type { Json, JsonObject } from './json-types.ts';

export { prettyJson, prettyJsonAt, stringifyJson, stringifyUnescaped } from './json-writer.ts';

/**
 * The one JSON text reads as. Throws JsonError, with Go's message. Where `duplicates` is given, the text is a client's: objects that repeat a key
 * are noted there, the last value wins, and more than MAX_VALUES values throw 413. Where `literals` is given, numbers that are written in another form than
 * this server's are noted there, and those that no float64 holds are infinite rather than an error. See json-types.ts for what numbers and odd keys become.
 */
export function parseJson(input: string | Uint8Array, duplicates?: DuplicateKeys, literals?: NumberLiterals): Json {
  const text = typeof input === 'string' ? input : asBuffer(input).toString();
  try {
    return parseDocument(text, duplicates, literals);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    parseDocument(asLatin1(input), undefined);
    throw error;
  }
}

/** The same for a text that may be long: others may have their turn in the meantime. */
export function* parseJsonInSteps(input: string | Uint8Array, duplicates?: DuplicateKeys, literals?: NumberLiterals): SlicedWork<Json> {
  const text = typeof input === 'string' ? input : asBuffer(input).toString();
  try {
    return yield* parseDocumentInSteps(text, duplicates, literals);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    yield* parseDocumentInSteps(asLatin1(input), undefined);
    throw error;
  }
}

/** What takes less than some milliseconds to be read. */
const SHORT_BYTES = 64 * 1024;

/** The same at once where the text is short, and in slices where it is long: for what other servers answer. */
export const parseLongJson = (body: Uint8Array): Json | Promise<Json> => runSliced(parseJsonInSteps(body), body.length > SHORT_BYTES);

/** Go reads bytes, not characters: an error names the first byte of a character as if it were Latin-1. */
const asLatin1 = (input: string | Uint8Array): string => asBuffer(typeof input === 'string' ? Buffer.from(input) : input).toString('latin1');

/** Longer runs of digits may be integers that a `number` would round. */
const MANY_DIGITS = /\d{16}/;

/** The same of JSON that this server has written. V8's own parser, which lacks only the exactness of long integers, needs no time to warm up: at start that is ten milliseconds. */
export function parseOwnJson(bytes: Buffer): Json {
  const text = bytes.toString();
  return MANY_DIGITS.test(text) ? parseJson(text) : (JSON.parse(text) as Json);
}

const asBuffer = (bytes: Uint8Array): Buffer => (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/** Paths may be as long as a body: no more are made. */
const MAX_DUPLICATE_PATHS = 300;

/** `metadata.name`, `spec.ports[0].name`: where keys are repeated, in the order of the text; for objects that have no schema to be decoded by. */
export function duplicatePaths(value: Json, duplicates: DuplicateKeys): string[] {
  const paths: string[] = [];
  if (duplicates.size > 0) collectDuplicates(value, '', duplicates, paths);
  return [...new Set(paths)];
}

function collectDuplicates(value: Json | undefined, path: string, duplicates: DuplicateKeys, paths: string[]): void {
  if (typeof value !== 'object' || value === null || paths.length === MAX_DUPLICATE_PATHS) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collectDuplicates(item, `${path}[${index}]`, duplicates, paths);
    return;
  }
  const repeats = duplicates.get(value);
  const valueOf = valuesAsWritten(value, repeats);
  const seen = new Set<string>();
  for (const key of repeats?.written ?? Object.keys(value)) {
    const child = path === '' ? key : `${path}.${key}`;
    if (seen.has(key) && paths.length < MAX_DUPLICATE_PATHS) paths.push(child);
    seen.add(key);
    collectDuplicates(valueOf(key), child, duplicates, paths);
  }
}

/** Of an object whose keys are gone through as they were written: the value that stands beside each. */
export function valuesAsWritten(object: JsonObject, repeats: Repeats | undefined): (key: string) => Json | undefined {
  const earlier = new Map<string, Json[]>();
  for (const [key, value] of (repeats?.replaced ?? []).toReversed()) {
    const values = earlier.get(key);
    if (values === undefined) earlier.set(key, [value]);
    else values.push(value);
  }
  return (key) => earlier.get(key)?.pop() ?? ownValue(object, key);
}

/** Whether `value` is a JSON object: not null, not a list. */
export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether an object, as JSON gives them, has any key at all; without listing them all for it. */
export function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

/** Sets a key that may be `__proto__`, which plain assignment would take for the prototype. */
export function setKey(object: JsonObject, key: string, value: Json | undefined): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The value of an own key: `constructor` is absent where it was not written. */
export const ownValue = (object: JsonObject, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);

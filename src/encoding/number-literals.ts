import type { SlicedWork } from '../util/time-slice.ts';
import { parseJsonInSteps, setKey } from './json.ts';
import { type DuplicateKeys, type NumberLiterals, noFloat, noteLiteral } from './json-parser.ts';
import type { Json, JsonObject } from './json-types.ts';

/** A client's string has no lone surrogate: parsers replace those. */
const MARK = '\ud800';
/** A marked literal as JSON.stringify writes it. */
const WRITTEN_MARK = /"\\ud800([^"]*)"/g;

/**
 * Parses a patch. In the place of numbers that are written otherwise than this server writes them it has marked strings, so that their text survives the
 * patching: see NumberLiterals. Throws as parseJson; of numbers that no float64 holds only where `floatPlace`, which the error names, is given.
 */
export function* parseMarkedJson(input: string | Uint8Array, duplicates: DuplicateKeys, floatPlace?: string): SlicedWork<Json> {
  const literals: NumberLiterals = new Map();
  const value = yield* parseJsonInSteps(input, duplicates, literals);
  for (const [container, texts] of literals)
    for (const [key, text] of texts) {
      if (floatPlace !== undefined && !Number.isFinite(Number(text))) throw noFloat(text, floatPlace);
      (container as JsonObject)[key] = MARK + text;
    }
  return value;
}

/** JSON of a marked value, with the numbers as they were written. */
export const withNumbersAsWritten = (json: string): string => json.replace(WRITTEN_MARK, '$1');

const isMarked = (value: Json | undefined): value is string => typeof value === 'string' && value.startsWith(MARK);

/** Whether there is a marked string in the value. */
export function hasMarks(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isMarked(value);
  if (Array.isArray(value)) return value.some(hasMarks);
  for (const key in value) if (hasMarks(value[key])) return true;
  return false;
}

/** A copy with numbers in the places of the marked strings, whose texts are added to `literals`, where there are any. */
export function withoutMarks(value: Json, literals?: NumberLiterals): Json {
  if (isMarked(value)) return Number(value.slice(MARK.length));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject | Json[] = Array.isArray(value) ? [] : {};
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (item === undefined) continue;
    if (literals !== undefined && isMarked(item)) noteLiteral(literals, copy, key, item.slice(MARK.length));
    const plain = withoutMarks(item, literals);
    if (Array.isArray(copy)) copy.push(plain);
    else setKey(copy, key as string, plain);
  }
  return copy;
}

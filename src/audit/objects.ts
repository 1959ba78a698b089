import { JsonError } from '../encoding/json-parser.ts';
import { isJsonObject, parseLongJson, parseOwnJson, stringifyJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { bytesOf } from './event.ts';

/* What events show of requests' and answers' objects. */

/** The object, or list, or table, without what says who owns which field (apiserver/pkg/audit copyWithoutManagedFields). Shares the rest. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata, items, rows } = object;
  const copy: JsonObject = { ...object };
  if (isJsonObject(metadata) && 'managedFields' in metadata) {
    const { managedFields: _managedFields, ...rest } = metadata;
    copy.metadata = rest;
  }
  if (Array.isArray(items)) copy.items = items.map(eachWithout);
  if (object.kind === 'Table' && Array.isArray(rows)) copy.rows = rows.map(rowWithout);
  return copy;
}

const eachWithout = (item: Json): Json => (isJsonObject(item) ? withoutManagedFields(item) : item);

const rowWithout = (row: Json): Json => (isJsonObject(row) && row.object !== undefined ? { ...row, object: eachWithout(row.object) } : row);

const FIELD = Buffer.from('"managedFields"');

/** Longer answers are taken apart in slices. */
const LONG_BYTES = 64 * 1024;

/** The same for an encoded answer, in pieces. */
export function withoutManagedFieldsOf(pieces: readonly Buffer[]): readonly Buffer[] | Promise<readonly Buffer[]> {
  if (bytesOf(pieces) > LONG_BYTES) return withoutManagedFieldsOfLong(pieces);
  const bytes = Buffer.concat(pieces);
  if (!bytes.includes(FIELD)) return pieces;
  const object = parseOwnJson(bytes);
  return isJsonObject(object) ? [Buffer.from(stringifyJson(withoutManagedFields(object)))] : pieces;
}

async function withoutManagedFieldsOfLong(pieces: readonly Buffer[]): Promise<readonly Buffer[]> {
  const object = await parseLongJson(Buffer.concat(pieces));
  if (!isJsonObject(object)) return pieces;
  const slice = new TimeSlice();
  const written: Buffer[] = [];
  let text = '';
  for (const part of partsOf(withoutManagedFields(object))) {
    text += part;
    if (text.length > LONG_BYTES) {
      written.push(Buffer.from(text));
      text = '';
    }
    if (slice.isSpent) await slice.next();
  }
  written.push(Buffer.from(text));
  return written;
}

/** The JSON of an object: each member in one part, and each item of a list, which are many. */
function* partsOf(object: JsonObject): Iterable<string> {
  let separator = '{';
  for (const [key, value] of Object.entries(object)) {
    yield `${separator}${stringifyJson(key)}:`;
    separator = ',';
    if (!Array.isArray(value)) yield stringifyJson(value);
    else {
      for (const [index, item] of value.entries()) yield `${index === 0 ? '[' : ','}${stringifyJson(item)}`;
      yield value.length === 0 ? '[]' : ']';
    }
  }
  yield separator === '{' ? '{}' : '}';
}

/** A patch as it was sent; where it is no JSON, which an apply patch need not be, as a text, since upstream would lose the whole event. */
export function patchAsJson(patch: Buffer): string | Promise<string> {
  const asText = (error: unknown): string => {
    if (error instanceof JsonError) return stringifyJson(patch.toString());
    throw error;
  };
  try {
    const parsed = parseLongJson(patch);
    return parsed instanceof Promise ? parsed.then(stringifyJson, asText) : stringifyJson(parsed);
  } catch (error) {
    return asText(error);
  }
}

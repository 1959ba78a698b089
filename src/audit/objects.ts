import { JsonError } from '../encoding/json-parser.ts';
import { isJsonObject, parseLongJson, parseOwnJson, stringifyJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

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

/** The same for an encoded answer. */
export function withoutManagedFieldsOf(bytes: Buffer): Buffer {
  if (!bytes.includes(FIELD)) return bytes;
  const object = parseOwnJson(bytes);
  return isJsonObject(object) ? Buffer.from(stringifyJson(withoutManagedFields(object))) : bytes;
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

import { badRequest } from '../util/errors.ts';
import { quote } from '../util/field-errors.ts';
import { duplicatePaths, isJsonObject, ownValue, parseJson, setKey } from '../util/json.ts';
import { type DuplicateKeys, JsonError } from '../util/json-parser.ts';
import type { Json, JsonObject } from '../util/json-types.ts';

/**
 * Reads a merge patch's body. Where `strictErrors` is given (fieldValidation Warn or Strict), repeated keys are added to it. Throws 400 where it is
 * no JSON object.
 */
export function parseMergePatch(body: string | Uint8Array, strictErrors?: string[]): JsonObject {
  if (strictErrors !== undefined) return parsePatchObject(body, 'error decoding patch: ', strictErrors) ?? refuse();
  try {
    return parsePatchObject(body, '', undefined) ?? refuse();
  } catch {
    return refuse();
  }
}

const refuse = (): never => {
  throw badRequest('Invalid JSON Patch');
};

/** The body as an object; undefined for null. Throws 400 with `prefix` before the decoder's words. */
export function parsePatchObject(body: string | Uint8Array, prefix: string, strictErrors: string[] | undefined): JsonObject | undefined {
  const duplicates: DuplicateKeys = new Map();
  const patch = parseOrRefuse(body, prefix, duplicates);
  if (patch === null) return undefined;
  if (!isJsonObject(patch)) throw badRequest(`${prefix}json: cannot unmarshal ${jsonName(patch)} into Go value of type map[string]interface {}`);
  strictErrors?.push(...duplicatePaths(patch, duplicates).map((path) => `duplicate field ${quote(path)}`));
  return patch;
}

function parseOrRefuse(body: string | Uint8Array, prefix: string, duplicates: DuplicateKeys): Json {
  try {
    return parseJson(body, duplicates);
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(prefix + error.message);
    throw error;
  }
}

const jsonName = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';

/**
 * RFC 7386 as evanphx/json-patch does it: the document with the patch merged in; neither is changed. Objects that were merged come out with their
 * keys sorted, as upstream's messages show them.
 */
export function applyMergePatch(document: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = {};
  const keys = new Set([...Object.keys(document), ...Object.keys(patch)]);
  for (const key of [...keys].toSorted()) {
    const value = mergeValue(ownValue(document, key), ownValue(patch, key));
    if (value !== undefined) setKey(merged, key, value);
  }
  return merged;
}

function mergeValue(current: Json | undefined, patch: Json | undefined): Json | undefined {
  if (patch === undefined) return current;
  if (patch === null) return undefined;
  if (!isJsonObject(current)) return pruneNulls(patch);
  return isJsonObject(patch) ? applyMergePatch(current, patch) : patch;
}

/** A value that is new: the nulls in its objects have nothing to remove. Those of lists stay. */
function pruneNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(pruneNulls);
  if (!isJsonObject(value)) return value;
  const pruned: JsonObject = {};
  for (const key of Object.keys(value).toSorted()) {
    const item = value[key];
    if (item !== null && item !== undefined) setKey(pruned, key, pruneNulls(item));
  }
  return pruned;
}

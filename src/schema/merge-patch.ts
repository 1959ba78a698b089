import { badRequest } from '../api/errors.ts';
import type { SlicedWork } from '../util/time-slice.ts';
import { quote } from '../util/go-quote.ts';
import { duplicatePaths, isJsonObject, ownValue, parseJsonInSteps, setKey } from '../encoding/json.ts';
import { type DuplicateKeys, JsonError } from '../encoding/json-parser.ts';
import { parseMarkedJson } from '../encoding/number-literals.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/**
 * Reads a merge patch's body. Where `strictErrors` is given (fieldValidation Warn or Strict), repeated keys are added to it, and the patch is an object.
 * Otherwise it may be a list too. Throws 400 where it is neither. Its numbers are marked: see parseMarkedJson.
 */
export function* parseMergePatch(body: string | Uint8Array, strictErrors?: string[]): SlicedWork<JsonObject | Json[]> {
  if (strictErrors !== undefined) {
    const parse = (duplicates: DuplicateKeys): SlicedWork<Json> => parseMarkedJson(body, duplicates, 'Go value');
    return (yield* parsePatchObject(body, 'error decoding patch: ', strictErrors, parse)) ?? refuse();
  }
  const patch = yield* parseOrRefuse(parseMarkedJson(body, new Map()), refuse);
  return isJsonObject(patch) || Array.isArray(patch) ? patch : refuse();
}

const refuse = (): never => {
  throw badRequest('Invalid JSON Patch');
};

/** The body as an object; undefined for null. Throws 400 with `prefix` before the decoder's words. */
export function* parsePatchObject(
  body: string | Uint8Array,
  prefix: string,
  strictErrors: string[] | undefined,
  parse = (duplicates: DuplicateKeys): SlicedWork<Json> => parseJsonInSteps(body, duplicates),
): SlicedWork<JsonObject | undefined> {
  const duplicates: DuplicateKeys = new Map();
  const patch = yield* parseOrRefuse(parse(duplicates), (why) => {
    throw badRequest(prefix + why);
  });
  if (patch === null) return undefined;
  if (!isJsonObject(patch)) throw badRequest(`${prefix}json: cannot unmarshal ${jsonName(patch)} into Go value of type map[string]interface {}`);
  strictErrors?.push(...duplicatePaths(patch, duplicates).map((path) => `duplicate field ${quote(path)}`));
  return patch;
}

function* parseOrRefuse(parsing: SlicedWork<Json>, refuseFor: (why: string) => never): SlicedWork<Json> {
  try {
    return yield* parsing;
  } catch (error) {
    if (error instanceof JsonError) return refuseFor(error.message);
    throw error;
  }
}

const jsonName = (value: Json): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';

/**
 * RFC 7386 as evanphx/json-patch does it: the document with the patch merged in; neither is changed, and both share with the result. A list takes the
 * document's place. Objects that were merged come out with their keys sorted, as upstream's messages show them.
 */
export const applyMergePatch = (document: JsonObject, patch: JsonObject | Json[]): SlicedWork<Json> =>
  Array.isArray(patch) ? added(patch) : mergeObject(document, patch);

/** Keys that are merged, and items that are read, before others may have their turn. */
const VALUES_AT_ONCE = 64;

function* mergeObject(document: JsonObject, patch: JsonObject): SlicedWork<JsonObject> {
  const merged: JsonObject = {};
  const keys = new Set([...Object.keys(document), ...Object.keys(patch)]);
  let count = 0;
  for (const key of [...keys].toSorted()) {
    if (++count % VALUES_AT_ONCE === 0) yield;
    const [current, value] = [ownValue(document, key), ownValue(patch, key)];
    if (value === null) continue;
    const next = value === undefined ? current : isJsonObject(current) ? yield* merge(current, value) : yield* added(value);
    if (next !== undefined) setKey(merged, key, next);
  }
  return merged;
}

function* merge(current: JsonObject, patch: Json): SlicedWork<Json> {
  return isJsonObject(patch) ? yield* mergeObject(current, patch) : patch;
}

/** What a patch brings anew, without the nulls in its objects, which have nothing to remove; those of lists stay. Most have none, and are as they should be. */
function* added(value: Json): SlicedWork<Json> {
  return needsPruning(value) ? yield* pruneNulls(value) : value;
}

function* pruneNulls(value: Json): SlicedWork<Json> {
  return Array.isArray(value) ? yield* prunedList(value) : isJsonObject(value) ? yield* prunedObject(value) : value;
}

function* prunedList(items: readonly Json[]): SlicedWork<Json[]> {
  const pruned: Json[] = [];
  for (const item of items) {
    if (pruned.length % VALUES_AT_ONCE === 0) yield;
    pruned.push(typeof item === 'object' ? yield* pruneNulls(item) : item);
  }
  return pruned;
}

function* prunedObject(value: JsonObject): SlicedWork<JsonObject> {
  const pruned: JsonObject = {};
  let count = 0;
  for (const key of Object.keys(value).toSorted()) {
    if (++count % VALUES_AT_ONCE === 0) yield;
    const item = value[key];
    if (item === null || item === undefined) continue;
    setKey(pruned, key, typeof item === 'object' ? yield* pruneNulls(item) : item);
  }
  return pruned;
}

function needsPruning(value: Json): boolean {
  if (Array.isArray(value)) return value.some(needsPruning);
  if (!isJsonObject(value)) return false;
  let before = '';
  for (const key in value) {
    const item = value[key];
    if (key < before || item === null || item === undefined || needsPruning(item)) return true;
    before = key;
  }
  return false;
}

import { isJsonObject, ownValue, setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** Keys of objects and indexes of lists, from the outside in. */
export type FieldPath = readonly (string | number)[];

/** One field that is different: its new value, or, without one, that it is gone. */
export type FieldChange = readonly [path: FieldPath] | readonly [path: FieldPath, value: Json];

/** What turns one version of an object into the next. */
export type ObjectDelta = readonly FieldChange[];

/**
 * The fields by which two versions of an object differ, the outermost ones that are wholly other. Items of lists are compared by their place where both lists
 * are of one length; a list of another length is one change.
 */
export const deltaOf = (before: Json, after: Json): ObjectDelta => [...differences(before, after, [])];

/** The same one by one: a large object may have 90,000. */
export function* differences(before: Json, after: Json, path: FieldPath): Generator<FieldChange, void> {
  if (before === after) return;
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of Object.keys(before)) if (ownValue(after, key) === undefined) yield [[...path, key]];
    for (const key of Object.keys(after)) yield* differencesIn(ownValue(before, key), after[key]!, path, key);
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of after.entries()) yield* differencesIn(before[index], item, path, index);
  } else yield [path, after];
}

const NONE: readonly FieldChange[] = [];

/** Most parts are the same, or no objects. */
function differencesIn(before: Json | undefined, after: Json, path: FieldPath, key: string | number): Iterable<FieldChange> {
  if (before === after) return NONE;
  const inner = [...path, key];
  return isPart(before) && isPart(after) ? differences(before, after, inner) : [[inner, after]];
}

const isPart = (value: Json | undefined): value is JsonObject | Json[] => typeof value === 'object' && value !== null;

/** The next version. What has not changed is shared with the one before, neither of which may be written to. */
export function withDelta(before: Json, delta: ObjectDelta): Json {
  return delta.reduce<Json>((value, change) => withChange(value, change, 0), before);
}

function withChange(value: Json, change: FieldChange, depth: number): Json {
  const [path, next] = change;
  if (depth === path.length) {
    if (next === undefined) throw new Error('a delta takes a whole object away');
    return next;
  }
  const key = path[depth]!;
  if (Array.isArray(value) && typeof key === 'number' && key < value.length) return value.with(key, withChange(value[key]!, change, depth + 1));
  if (isJsonObject(value) && typeof key === 'string') return withMember(value, key, change, depth);
  throw new Error(`a delta names ${JSON.stringify(path)}, which is not there`);
}

function withMember(object: JsonObject, key: string, change: FieldChange, depth: number): JsonObject {
  const [path, next] = change;
  const copy = { ...object };
  if (depth === path.length - 1 && next === undefined) delete copy[key];
  else setKey(copy, key, withChange(ownValue(object, key) ?? null, change, depth + 1));
  return copy;
}

/** The value that stands at the path; undefined where there is none. */
export function valueAt(value: Json | undefined, path: FieldPath): Json | undefined {
  let current = value;
  for (const key of path) {
    if (Array.isArray(current) && typeof key === 'number') current = current[key];
    else if (isJsonObject(current) && typeof key === 'string') current = ownValue(current, key);
    else return undefined;
  }
  return current;
}

export const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;

/** `spec.template.spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`. */
export const pathText = (path: FieldPath): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    if (!PLAIN_KEY.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');

import { setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** A deep copy of a JSON value; keys without a value are left out. */
export function clone<T>(value: T): T {
  return cloneJson(value as Json) as T;
}

function cloneJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson);
  const copy: JsonObject = {};
  for (const key in value) {
    const item = value[key];
    if (item !== undefined) setKey(copy, key, cloneJson(item));
  }
  return copy;
}

import { setKey } from './json.ts';
import type { Json, JsonObject } from './json-types.ts';

const FEW_KEYS = 32;

/** Most objects have few keys, in order but for those that defaults added: V8's sort makes two lists for any number of them. */
export function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end]!;
    let at = end;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

/** The value with the keys of all its objects in order. */
export function withSortedKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withSortedKeys);
  const object: JsonObject = {};
  for (const key of sortedKeys(value)) if (value[key] !== undefined) setKey(object, key, withSortedKeys(value[key]));
  return object;
}

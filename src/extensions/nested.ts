import { formatGo, goTypeOfValue } from '../encoding/go-format.ts';
import { isJsonObject, ownValue, setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** A value that is not of the type that its path promises, with the message of apimachinery's unstructured helpers. */
export class AccessError extends Error {}

/** `.spec.replicas`: the simple paths of scales. */
export const splitPath = (path: string): string[] => (path.startsWith('.') ? path.slice(1) : path).split('.');

/** Undefined where there is none. Throws AccessError. */
export function nestedInteger(object: JsonObject, path: string): number | bigint | undefined {
  const value = nested(object, path);
  if (value === undefined) return undefined;
  // Larger integers are bigints: a number of that size was written with an exponent, or does not fit into 64 bits, and is floating point to Go.
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value as number | bigint;
  throw mismatch(splitPath(path), value, 'int64');
}

export function nestedText(object: JsonObject, path: string): string | undefined {
  const value = nested(object, path);
  if (value === undefined || typeof value === 'string') return value;
  throw mismatch(splitPath(path), value, 'string');
}

function nested(object: JsonObject, path: string): Json | undefined {
  const names = splitPath(path);
  let value: Json | undefined = object;
  for (const [depth, name] of names.entries()) {
    if (value === null) return undefined;
    if (!isJsonObject(value)) throw mismatch(names.slice(0, depth + 1), value, 'map[string]interface{}');
    value = ownValue(value, name);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Objects on the way are made where there are none. */
export function setNested(object: JsonObject, path: string, value: Json): void {
  const names = splitPath(path);
  let at = object;
  for (const name of names.slice(0, -1)) {
    const inner = ownValue(at, name);
    if (inner !== undefined && !isJsonObject(inner)) throw new AccessError(`value cannot be set because .${names.join('.')} is not a map[string]interface{}`);
    if (inner === undefined) setKey(at, name, {});
    at = at[name] as JsonObject;
  }
  setKey(at, names.at(-1)!, value);
}

const mismatch = (names: readonly string[], value: Json, expected: string): AccessError =>
  new AccessError(`.${names.join('.')} accessor error: ${formatGo(value)} is of the type ${goTypeOfValue(value)}, expected ${expected}`);

import { setKey } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import type { Edit } from './step.ts';

/** A copy of the object with the changes made, as far as their places are there; what is missing on the way is made. */
export function applyEdits(object: JsonObject, edits: readonly Edit[]): JsonObject {
  const copy = structuredClone(object);
  for (const edit of edits) applyEdit(copy, edit);
  return copy;
}

function applyEdit(object: JsonObject, { at, value }: Edit): void {
  let holder: Json | undefined = object;
  for (const [depth, key] of at.slice(0, -1).entries()) {
    if (typeof holder !== 'object' || holder === null) return;
    const inner: Json | undefined = valueAt(holder, key);
    if (inner === undefined && value === undefined) return;
    if (inner === undefined) setAt(holder, key, typeof at[depth + 1] === 'number' ? [] : {});
    holder = valueAt(holder, key);
  }
  if (typeof holder !== 'object' || holder === null) return;
  setAt(holder, at.at(-1)!, value === undefined ? undefined : structuredClone(value));
}

function valueAt(holder: Json[] | JsonObject, key: string | number): Json | undefined {
  if (Array.isArray(holder)) return typeof key === 'number' ? holder[key] : undefined;
  return Object.hasOwn(holder, String(key)) ? holder[String(key)] : undefined;
}

function setAt(holder: Json[] | JsonObject, key: string | number, value: Json | undefined): void {
  if (!Array.isArray(holder)) {
    if (value === undefined) delete holder[String(key)];
    else setKey(holder, String(key), value);
  } else if (typeof key !== 'number') return;
  else if (value === undefined) holder.splice(key, 1);
  else if (key >= holder.length) holder.push(value);
  else holder[key] = value;
}

import { isJsonObject, setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/**
 * Lists and maps that a client sent empty. An empty one is stored as none, so decoding leaves it out; but upstream's messages tell `[]` from `null`. So
 * the empty fields of a decoded object are remembered beside it, for messages alone.
 */
const emptyFields = new WeakMap<object, Record<string, Json>>();

export function noteEmptied(object: object, fields: Record<string, Json>): void {
  emptyFields.set(object, fields);
}

/** `copy` is the same object in other words: what was empty in the one is so in the other. */
export function copyEmptied<T extends object>(object: object, copy: T): T {
  const fields = emptyFields.get(object);
  if (fields !== undefined) emptyFields.set(copy, fields);
  return copy;
}

/** A deep copy that knows what was sent empty: for a write that may have to be tried again with another copy. Keys without a value are left out. */
export function cloneSent<T>(value: T): T {
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
  return copyEmptied(value, copy);
}

/** A field that is `null`, as empty as it was sent. */
export const sentEmpty = (object: object, field: string): Json => emptyFields.get(object)?.[field] ?? null;

/** Whether there is anything in an object, be it only a list or map that was sent empty. */
export const hasFields = (object: object): boolean => Object.keys(object).length > 0 || emptyFields.has(object);

/** A copy of the object as it is stored, with what was empty in the object that it was made from; undefined where nothing was. */
export function withEmptied<T>(stored: T, sent: T): T | undefined {
  const restored = { count: 0 };
  const copy = restore(stored as Json, sent as Json, restored);
  return restored.count === 0 ? undefined : (copy as T);
}

/** What has nothing to be restored in it is not copied. */
function restore(stored: Json, sent: Json | undefined, restored: { count: number }): Json {
  if (typeof stored !== 'object' || stored === null || typeof sent !== 'object' || sent === null) return stored;
  if (Array.isArray(stored)) return Array.isArray(sent) ? restoreItems(stored, sent, restored) : stored;
  if (Array.isArray(sent)) return stored;
  let copy: JsonObject | undefined;
  for (const key in stored) {
    const value = restore(stored[key]!, sent[key], restored);
    if (value !== stored[key]) setKey((copy ??= { ...stored }), key, value);
  }
  const empty = emptyFields.get(sent);
  if (empty === undefined) return copy ?? stored;
  for (const [key, value] of Object.entries(empty)) {
    if (((copy ?? stored)[key] ?? null) !== null) continue;
    setKey((copy ??= { ...stored }), key, value);
    restored.count++;
  }
  return copy ?? stored;
}

function restoreItems(stored: Json[], sent: readonly Json[], restored: { count: number }): Json[] {
  let copy: Json[] | undefined;
  for (let index = 0; index < stored.length; index++) {
    const item = restore(stored[index]!, sent[index], restored);
    if (item !== stored[index]) (copy ??= [...stored])[index] = item;
  }
  return copy ?? stored;
}

/** The object with the fields that are written even where there is none (as `null`) as empty as they were sent: upstream tells them apart when it looks for changes. */
export function withSentEmpties(object: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const key in object) {
    const value = object[key]!;
    const sent = value === null ? sentEmpty(object, key) : sentEmptiesIn(value);
    if (sent !== undefined && sent !== value) setKey((copy ??= { ...object }), key, sent);
  }
  return copy ?? object;
}

function sentEmptiesIn(value: Json): Json {
  if (!Array.isArray(value)) return isJsonObject(value) ? withSentEmpties(value) : value;
  let copy: Json[] | undefined;
  for (const [index, item] of value.entries()) {
    const sent = sentEmptiesIn(item);
    if (sent !== item) (copy ??= [...value])[index] = sent;
  }
  return copy ?? value;
}

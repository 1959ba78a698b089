import { setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { type SlicedWork, runInSlices } from '../util/time-slice.ts';

/** A deep copy of a JSON value; keys without a value are left out. */
export function clone<T>(value: T): T {
  return cloneJson(value as Json) as T;
}

/** The same of what may be large: others have their turn meanwhile, in which nobody changes it. */
export const cloneInSlices = <T>(value: T): Promise<T> => runInSlices(cloneInSteps(value as Json)) as Promise<T>;

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

/** Values that are copied before others may have their turn. */
const VALUES_A_STEP = 1_000;

/** A list or an object of which a part has been copied. */
interface OpenCopy {
  from: Json[] | JsonObject;
  to: Json[] | JsonObject;
  /** Undefined for a list. */
  keys: readonly string[] | undefined;
  length: number;
  done: number;
}

const openCopy = (from: Json[] | JsonObject): OpenCopy => {
  const keys = Array.isArray(from) ? undefined : Object.keys(from);
  return { from, to: keys ? {} : [], keys, length: (keys ?? (from as Json[])).length, done: 0 };
};

function* cloneInSteps(value: Json): SlicedWork<Json> {
  const all = openCopy([value]);
  /** The way down. */
  const open = [all];
  for (let values = 1; open.length > 0; values++) {
    if (values % VALUES_A_STEP === 0) yield;
    const inner = copyNext(open.at(-1)!);
    if (inner === 'end') open.pop();
    else if (inner !== undefined) open.push(inner);
  }
  return (all.to as Json[])[0]!;
}

/** Copies the next value; answers what is in it, to be copied before what follows. */
function copyNext(copy: OpenCopy): OpenCopy | 'end' | undefined {
  if (copy.done === copy.length) return 'end';
  const at = copy.done++;
  const item = copy.keys ? (copy.from as JsonObject)[copy.keys[at]!] : (copy.from as Json[])[at]!;
  const inner = typeof item === 'object' && item !== null ? openCopy(item as Json[] | JsonObject) : undefined;
  const value = inner ? inner.to : item;
  if (!copy.keys) (copy.to as Json[]).push(value as Json);
  else if (value !== undefined) setKey(copy.to as JsonObject, copy.keys[at]!, value);
  return inner;
}

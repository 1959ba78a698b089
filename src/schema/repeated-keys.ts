import type { DuplicateKeys } from '../encoding/json-parser.ts';
import { isJsonObject, ownValue, setKey, valuesAsWritten } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import type { TypeSchema } from './schema.ts';

const MAX_REPEATED = 100;
/** Paths may be as long as a body, and are told of in full. */
const MAX_TOLD = 300;

type Tell = (what: 'unknown field' | 'duplicate field', path: string) => void;

/**
 * Tells of the fields that the type does not have and of those that are written again, in the order of the text, below what is later replaced as well.
 * To be asked before anything is merged. The same may be told more than once; nothing is beyond MAX_TOLD.
 */
export function tellInOrder(type: TypeSchema, value: Json, duplicates: DuplicateKeys, tell: Tell): void {
  let told = 0;
  const bounded: Tell = (what, path) => {
    if (++told <= MAX_TOLD) tell(what, path);
  };
  tellBelow(type, value, duplicates, bounded, '');
}

function tellBelow(type: TypeSchema, value: Json, duplicates: DuplicateKeys, tell: Tell, path: string): void {
  if (type.type === 'list' && Array.isArray(value))
    for (const [index, item] of value.entries()) tellBelow(type.items, item, duplicates, tell, `${path}[${index}]`);
  if ((type.type !== 'object' && type.type !== 'map') || !isJsonObject(value)) return;
  const repeats = duplicates.get(value);
  const valueOf = valuesAsWritten(value, repeats);
  const seen = new Set<string>();
  for (const key of repeats?.written ?? Object.keys(value)) {
    const below = path === '' ? key : `${path}.${key}`;
    const of = memberOf(type, key);
    if (of === undefined) tell('unknown field', below);
    else if (seen.has(key)) tell('duplicate field', below);
    seen.add(key);
    const one = valueOf(key);
    if (of !== undefined && one !== undefined) tellBelow(of.type, one, duplicates, tell, below);
  }
}

/**
 * A key that is written twice is read twice by Go's decoder, the second time into what the first has left: structs and maps are merged, items of lists are
 * read into those that stand in their places, all else is replaced. Makes the same of `value`, in place. Where more is repeated than any mistake explains, the
 * last stays, and false is answered: each time, what came before is gone through.
 */
export function mergeRepeated(type: TypeSchema, value: Json, duplicates: DuplicateKeys): boolean {
  let repeated = 0;
  for (const { replaced } of duplicates.values()) repeated += replaced.length;
  if (repeated > MAX_REPEATED) return false;
  mergeInside(type, value, duplicates);
  return true;
}

function mergeInside(type: TypeSchema, value: Json, duplicates: DuplicateKeys): void {
  if (type.type === 'list' && Array.isArray(value)) for (const item of value) mergeInside(type.items, item, duplicates);
  if ((type.type !== 'object' && type.type !== 'map') || !isJsonObject(value)) return;
  const replaced = duplicates.get(value)?.replaced ?? [];
  for (const key of Object.keys(value)) {
    const of = memberOf(type, key);
    if (of === undefined) continue;
    const values = [...replaced.filter(([name]) => name === key).map(([, earlier]) => earlier), value[key]!];
    for (const one of values) mergeInside(of.type, one, duplicates);
    if (values.length > 1)
      setKey(
        value,
        key,
        values.reduce((before, next) => readInto(of, before, next)),
      );
  }
}

interface Member {
  type: TypeSchema;
  /** Null makes nothing of it; what is no pointer, null leaves as it is. */
  pointer: boolean;
  /** Read into what is there already; values of maps are not. */
  merges: boolean;
}

function memberOf(type: TypeSchema & { type: 'object' | 'map' }, key: string): Member | undefined {
  if (type.type === 'map') return { type: type.values, pointer: true, merges: false };
  const field = type.fields.get(key);
  return field && { type: field.type, pointer: field.pointer, merges: true };
}

const KEPT_BY_NULL = new Set<TypeSchema['type']>(['object', 'string', 'boolean', 'int32', 'int64', 'double']);

function readInto({ type, pointer, merges }: Member, before: Json, next: Json): Json {
  if (!merges || before === null) return next;
  if (next === null) return pointer || !KEPT_BY_NULL.has(type.type) ? next : before;
  if (type.type === 'list' && Array.isArray(before) && Array.isArray(next)) {
    return next.map((item, index) => (index < before.length ? readInto({ type: type.items, pointer: false, merges: true }, before[index]!, item) : item));
  }
  if ((type.type !== 'object' && type.type !== 'map') || !isJsonObject(before) || !isJsonObject(next)) return next;
  return mergedMembers(type, before, next);
}

/** Into `next`, which others may know as the object that was written. */
function mergedMembers(type: TypeSchema & { type: 'object' | 'map' }, before: JsonObject, next: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(before)) {
    const of = memberOf(type, key);
    const own = ownValue(next, key);
    if (own === undefined) setKey(next, key, value);
    else if (of !== undefined) setKey(next, key, readInto(of, value!, own));
  }
  return next;
}

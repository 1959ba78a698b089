import { equalJson } from '../../encoding/json-equal.ts';
import { isJsonObject, ownValue } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { JsonSchema } from './json-schema.ts';

/*
 * What a value was before an update, as far as its schema can tell (apiserver/pkg/cel/common/equality.go CorrelatedObject): fields that the schema knows by
 * their names, items of lists of type map by their keys. Ratcheting (KEP-4008) and the rules' oldSelf go by it.
 */

/** What stood at a value's place before, and the schema of that place; undefined where nothing can be said to have. */
export type Old = { value: Json; schema: JsonSchema } | undefined;

export function oldField(old: Old, key: string): Old {
  const value = old !== undefined && isJsonObject(old.value) ? ownValue(old.value, key) : undefined;
  const schema = value === undefined ? undefined : fieldSchema(old!.schema, key);
  return value === undefined || schema === undefined ? undefined : { value, schema };
}

function fieldSchema({ properties, additionalProperties }: JsonSchema, key: string): JsonSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return isJsonObject(additionalProperties as Json) ? (additionalProperties as JsonSchema) : undefined;
}

export function oldItem(old: Old, item: Json): Old {
  const keys = old?.schema['x-kubernetes-list-map-keys'];
  if (old === undefined || old.schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old.value)) return undefined;
  const key = keyText(keys, item);
  const value = key === undefined ? undefined : byKeys(keys, old.value).get(key);
  const { items } = old.schema;
  return value === undefined || !isJsonObject(items as Json) ? undefined : { value, schema: items as JsonSchema };
}

/** Lists may be long: each is looked through once. */
const indexedLists = new WeakMap<readonly Json[], { keys: readonly string[]; items: ReadonlyMap<string, Json> }>();

/** The first item of each key. */
function byKeys(keys: readonly string[], list: readonly Json[]): ReadonlyMap<string, Json> {
  const known = indexedLists.get(list);
  if (known?.keys === keys) return known.items;
  const items = new Map<string, Json>();
  for (const item of list) {
    const key = keyText(keys, item);
    if (key !== undefined && !items.has(key)) items.set(key, item);
  }
  indexedLists.set(list, { keys, items });
  return items;
}

/** The same for items with the same keys, and for no others; undefined where one of them is missing, or no scalar. */
function keyText(keys: readonly string[], item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  let text = '';
  for (const name of keys) {
    const value = ownValue(item, name);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    text += `${typeof value === 'string' ? JSON.stringify(value) : String(value)}\u0000`;
  }
  return text;
}

/** Finds what an update left as it was, and knows how long that took. */
export class Comparison {
  elapsedMs = 0;

  isUnchanged(value: Json, old: Old): boolean {
    const startMs = performance.now();
    const result = isUnchanged(value, old);
    this.elapsedMs += performance.now() - startMs;
    return result;
  }
}

/** Whether the value is what it was. What cannot be correlated in part is not unchanged: an item without its keys, a field that the schema does not know. */
export function isUnchanged(value: Json, old: Old): boolean {
  if (old === undefined) return false;
  const { value: before, schema } = old;
  if (Array.isArray(value) && Array.isArray(before)) {
    if (schema['x-kubernetes-list-type'] !== 'map') return equalJson(value, before);
    return value.length === before.length && value.every((item) => isUnchanged(item, oldItem(old, item)));
  }
  return isJsonObject(value) && isJsonObject(before) ? areFieldsUnchanged(value, before, old) : equalJson(value, before);
}

function areFieldsUnchanged(object: JsonObject, before: JsonObject, old: Old): boolean {
  const keys = definedKeys(object);
  return keys.length === definedKeys(before).length && keys.every((key) => isUnchanged(object[key]!, oldField(old, key)));
}

const definedKeys = (object: JsonObject): string[] => Object.keys(object).filter((key) => object[key] !== undefined);

import type { FieldErrors } from '../../api/field-errors.ts';
import { isJsonObject, ownValue, setKey, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { Structure } from './structure.ts';

/** What of an item names it in a list of type map. */
function keyOf(keys: readonly string[], item: Json): JsonObject {
  const key: JsonObject = {};
  if (isJsonObject(item)) {
    for (const name of keys) {
      const value = ownValue(item, name);
      if (value !== undefined) setKey(key, name, value);
    }
  }
  return key;
}

/** The same for items with the same key, and for no others. */
function keyText(keys: readonly string[], item: Json): string {
  let text = '';
  for (const name of keys) text += `${textOf(isJsonObject(item) ? ownValue(item, name) : undefined)}\u0000`;
  return text;
}

/** The same for equal values, and for no others. */
const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? JSON.stringify(value) : value === undefined ? '' : `${typeof value}${stringifyJson(value)}`;

/** That items of sets, and keys of items in maps, stand once (…/schema/listtype). `errors` is of the object. */
export function validateListTypes(structure: Structure | undefined, value: Json, errors: FieldErrors): void {
  if (structure === undefined || typeof value !== 'object' || value === null || !structure.hasListTypes) return;
  if (Array.isArray(value)) {
    validateList(structure, value, errors);
    if (structure.items?.hasListTypes !== true) return;
    for (let index = 0; index < value.length; index++)
      if (typeof value[index] === 'object') validateListTypes(structure.items, value[index]!, errors.index(index));
    return;
  }
  for (const key in value) {
    const inner = value[key];
    if (typeof inner !== 'object' || inner === null) continue;
    const property = structure.property(key);
    const child = property ?? structure.additional;
    if (child?.hasListTypes) validateListTypes(child, inner, property ? errors.at(key) : errors.key(key));
  }
}

function validateList({ schema }: Structure, list: readonly Json[], errors: FieldErrors): void {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') for (const index of repeated(list, textOf)) errors.index(index).duplicate(list[index]);
  if (type !== 'map') return;
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) return errors.index(wrong).invalid(list[wrong], 'must be an object for an array of list-type map');
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  for (const index of repeated(list, (item) => keyText(keys, item))) errors.index(index).duplicate(keyOf(keys, list[index]!));
}

/** The indexes of the second ones of each that have the same text. */
function repeated(list: readonly Json[], text: (item: Json) => string): number[] {
  if (list.length < 2) return [];
  const seen = new Map<string, number>();
  const indexes: number[] = [];
  for (let index = 0; index < list.length; index++) {
    const key = text(list[index]!);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times === 2) indexes.push(index);
  }
  return indexes;
}

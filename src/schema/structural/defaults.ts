import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { clone } from '../clone.ts';
import type { Structure } from './structure.ts';

/** Fills in what the value lacks and its schema has a default for, in place; a null that may not be counts as lacking (…/schema/defaulting). */
export function fillDefaults(structure: Structure, value: Json): void {
  if (typeof value !== 'object' || value === null || !structure.hasDefaults) return;
  if (Array.isArray(value)) fillItems(structure, value);
  else if (isJsonObject(value)) {
    for (const name of structure.propertyNames) {
      const property = structure.property(name)!;
      if (property.default === undefined) continue;
      const isLacking = !Object.hasOwn(value, name) || value[name] === undefined || isWrongNull(value[name], property);
      if (isLacking) setKey(value, name, clone(property.default));
    }
    for (const key of Object.keys(value)) {
      const child = structure.child(key);
      if (child === undefined) continue;
      if (isWrongNull(value[key], child) && child.default !== undefined) setKey(value, key, clone(child.default));
      fillDefaults(child, value[key] ?? null);
    }
  }
}

function fillItems({ items }: Structure, list: Json[]): void {
  if (items === undefined) return;
  for (let index = 0; index < list.length; index++) {
    if (isWrongNull(list[index], items) && items.default !== undefined) list[index] = clone(items.default);
    fillDefaults(items, list[index]!);
  }
}

const isWrongNull = (value: Json | undefined, structure: Structure): boolean => value === null && !structure.isNullable;

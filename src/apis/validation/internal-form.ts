import type { JsonObject } from '../../encoding/json-types.ts';
import { LIMITS } from '../../util/limits.ts';

/** Fields of a Go struct in their order: the name in Go, and the one here; a nested struct with its own fields, or what Go has where there is no value. */
export type InternalFields = readonly (readonly [goName: string, name: string, nestedOrZero?: InternalFields | string | number | boolean])[];

/**
 * A value as upstream's internal type of it prints in a field error: those types have no JSON tags, so that all fields stand there under their Go names,
 * `null` where there is none and the field is a pointer, a list or a map.
 */
export function internalForm(value: object | null | undefined, fields: InternalFields): object | null {
  if (!value) return null;
  const source = value as Record<string, unknown>;
  const form: Record<string, unknown> = {};
  for (const [goName, name, nestedOrZero] of fields)
    form[goName] = typeof nestedOrZero === 'object' ? nestedForm(source[name], nestedOrZero) : (source[name] ?? nestedOrZero ?? null);
  return form;
}

/** So many items, of ten characters each at the least (`{"A":null}`), have more than an error shows. */
const SHOWN_ITEMS = Math.ceil(LIMITS.fieldErrorCharacters / 10);

const nestedForm = (value: unknown, fields: InternalFields): unknown =>
  Array.isArray(value) ? value.slice(0, SHOWN_ITEMS).map((item: object) => internalForm(item, fields)) : internalForm(value as object | undefined, fields);

/** A value of a type that has JSON tags, as upstream prints it inside of one that has none: without what is empty. */
export const withoutEmpty = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null && (typeof item !== 'object' || Object.keys(item).length > 0)));

import { isJsonObject } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { ChangedField } from './history-source.ts';
import { type FieldPath, deltaOf, differences, pathText, valueAt } from './object-delta.ts';

/** What every write changes says nothing of its own. */
const BOOKKEEPING = new Set(['resourceVersion', 'managedFields', 'generation']);

export const isBookkeeping = (path: FieldPath): boolean => path[0] === 'metadata' && BOOKKEEPING.has(String(path[1]));

/** A field that is other, by the keys that lead to it. */
interface FieldDifference extends Omit<ChangedField, 'path'> {
  path: FieldPath;
}

/** The fields that two versions differ in, without what the server keeps books of. Undefined: there is no such version. */
export const changedFields = (before: JsonObject | undefined, after: JsonObject | undefined): FieldDifference[] => [...fieldDifferences(before, after)];

/** The same one by one. */
export function* fieldDifferences(before: JsonObject | undefined, after: JsonObject | undefined): Iterable<FieldDifference> {
  for (const [path, to] of differences(before ?? {}, after ?? {}, [])) if (!isBookkeeping(path)) yield { path, from: valueAt(before, path), to };
}

/** The same, by their paths as they are printed. */
export const printedFields = (before: JsonObject | undefined, after: JsonObject | undefined): ChangedField[] =>
  changedFields(before, after).map(({ path, from, to }) => ({ path: pathText(path), from, to }));

/**
 * The field managers whose entries a change made or renewed: who wrote, as far as the object itself tells. The entry of one who only lost a field to another
 * keeps its time. Of two writes in one second, the second may show the manager's fields alone to be other.
 */
export function managersOf(before: JsonObject | undefined, after: JsonObject | undefined): string[] {
  const known = entriesOf(before);
  const isNew = (entry: JsonObject): boolean => !known.some((old) => IDENTITY.every((field) => old[field] === entry[field]));
  const isOther = (entry: JsonObject): boolean => !known.some((old) => deltaOf(old, entry).length === 0);
  const entries = entriesOf(after);
  const changed = entries.some(isNew) ? entries.filter(isNew) : entries.filter(isOther);
  return [...new Set(changed.flatMap(({ manager }) => (typeof manager === 'string' && manager !== '' ? [manager] : [])))];
}

const IDENTITY = ['manager', 'operation', 'subresource', 'apiVersion', 'time'];

function entriesOf(object: JsonObject | undefined): JsonObject[] {
  const entries = valueAt(object, ['metadata', 'managedFields']);
  return Array.isArray(entries) ? entries.filter(isJsonObject) : [];
}

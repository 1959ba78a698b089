import type { Json } from '../../../encoding/json-types.ts';
import { prettyJson, stringifyJson } from '../../../encoding/json.ts';
import { LIMITS } from '../../../util/limits.ts';
import { TooManySteps, unifiedDiff } from '../../../util/unified-diff.ts';

/** What differs, as upstream shows it: in its internal form, as indented JSON. Empty where it is too large to be compared. */
export function internalDiff<T extends object>(old: T, value: T, internalForm: (value: T) => Json): string {
  if (!isComparable(old, value)) return '';
  try {
    return unifiedDiff(indentedJson(internalForm(old)), indentedJson(internalForm(value)), LIMITS.diffSteps);
  } catch (error) {
    if (error instanceof TooManySteps) return '';
    throw error;
  }
}

/** The internal form of each object has lines for all the fields that it does not have. */
function isComparable(old: object, value: object): boolean {
  const json = stringifyJson(old) + stringifyJson(value);
  return json.length <= LIMITS.diffCharacters && json.split('{', LIMITS.diffObjects + 2).length <= LIMITS.diffObjects + 1;
}

/** As Go's json.MarshalIndent writes it: maps in the order of keys come sorted from the store. */
const indentedJson = (value: Json): string => prettyJson(value, 1);

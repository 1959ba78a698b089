import type { FieldErrors } from '../../api/field-errors.ts';

type Item<T> = (item: T, errors: FieldErrors) => void;

/** A list of bounded length. One that is too long is not looked into: what that would cost is what the bound is for. */
export function validateList<T>(list: readonly T[] | null | undefined, max: number, validateItem: Item<T>, errors: FieldErrors): void {
  if (!list) return;
  if (list.length > max) return errors.tooMany(list.length, max);
  for (const [index, item] of list.entries()) validateItem(item, errors.index(index));
}

/** The same, and no two items have one key, of which an error shows the second. */
export function validateUnique<T>(
  list: readonly T[] | null | undefined,
  max: number,
  validateItem: Item<T>,
  keyOf: (item: T) => string | object,
  errors: FieldErrors,
): void {
  validateList(list, max, validateItem, errors);
  if (!list || list.length > max) return;
  const keys = new Set<string>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    const text = typeof key === 'string' ? key : JSON.stringify(key);
    if (keys.has(text)) errors.index(index).duplicate(key);
    keys.add(text);
  }
}

/** A map: keys are validated where the map is, values at their key, which is cut in the middle where it is too long to show. */
export function validateEntries<T>(
  map: Record<string, T> | undefined,
  max: number,
  shownKeyLength: number,
  validateKey: Item<string>,
  validateValue: Item<T>,
  errors: FieldErrors,
): void {
  const entries = Object.entries(map ?? {});
  if (entries.length > max) return errors.tooMany(entries.length, max);
  for (const [key, value] of entries) {
    validateKey(key, errors);
    validateValue(value, errors.key(shorten(key, shownKeyLength)));
  }
}

function shorten(key: string, length: number): string {
  if (key.length <= length) return key;
  const kept = length - '...'.length;
  return `${key.slice(0, Math.ceil(kept / 2))}...${key.slice(-Math.floor(kept / 2))}`;
}

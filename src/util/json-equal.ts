/** Deep equality of JSON values; key order does not count, and a key without a value is no key. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  return hasAllOf(a as Record<string, unknown>, b as Record<string, unknown>) && countKeys(a) === countKeys(b);
}

const hasAllOf = (a: Record<string, unknown>, b: Record<string, unknown>): boolean =>
  Object.keys(a).every((key) => a[key] === undefined || (Object.hasOwn(b, key) && equalJson(a[key], b[key])));

const countKeys = (value: object): number => Object.values(value).reduce<number>((count, item) => (item === undefined ? count : count + 1), 0);

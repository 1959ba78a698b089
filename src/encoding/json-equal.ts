/** Deep equality of JSON values; key order does not count, and a key without a value is no key. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  return equalObjects(a as Record<string, unknown>, b as Record<string, unknown>);
}

function equalObjects(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let unmatched = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !equalJson(a[key], b[key])) return false;
    unmatched--;
  }
  for (const key in b) if (b[key] !== undefined) unmatched++;
  return unmatched === 0;
}

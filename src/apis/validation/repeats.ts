/**
 * Says of one value after another whether it came before: `const isRepeated = repeats<string>();`, then `isRepeated(name)` once for each. Searching the list for
 * each of its values instead takes time by the square of its length, and a body has room for a hundred thousand.
 */
export function repeats<K>(): (key: K) => boolean {
  const seen = new Set<K>();
  return (key) => {
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  };
}

/**
 * A document without upstream's sentences, which stay out of the repository: `description`s that are texts. A field of that name is kept, since its value is
 * a schema.
 */
export function withoutProse<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutProse(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, inner]) => key !== 'description' || typeof inner !== 'string');
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutProse(inner as unknown)])) as T;
}

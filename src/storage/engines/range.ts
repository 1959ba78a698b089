import type { Range, RangeOptions, Stored } from '../engine.ts';
import { compareKeys } from '../key-order.ts';

/** The part of a whole state, in any order, that a range asks for. */
export function cut(items: Iterable<Stored>, revision: number, { after, limit = Infinity }: RangeOptions): Range {
  const sorted = [...items].filter((stored) => after === undefined || compareKeys(stored.key, after) > 0).toSorted((a, b) => compareKeys(a.key, b.key));
  return { items: sorted.slice(0, limit), revision, remaining: Math.max(sorted.length - limit, 0) };
}

import type { RangeResult, RangeOptions, Stored } from '../engine.ts';
import { compareKeys, prefixEnd } from '../key-order.ts';

/** Keys from `start` on, without itself where that is excluded, and before `end`; to the last of all without one. */
export interface KeyBounds {
  readonly start: string;
  readonly isStartExcluded: boolean;
  readonly end: string | undefined;
}

/** Keys that start with `prefix`, beyond `after` where that is given. */
export function underPrefix(prefix: string, after: string | undefined): KeyBounds {
  const isExcluded = after !== undefined && compareKeys(after, prefix) >= 0;
  return { start: isExcluded ? after : prefix, isStartExcluded: isExcluded, end: prefixEnd(prefix) };
}

export function isWithin({ start, isStartExcluded, end }: KeyBounds, key: string): boolean {
  const order = compareKeys(key, start);
  return (isStartExcluded ? order > 0 : order >= 0) && (end === undefined || compareKeys(key, end) < 0);
}

/** The current state of a store, in the order of its keys. */
export interface Current {
  get(key: string): Stored | undefined;
  /** Ascending; at most `limit` of them where that is given. */
  range(bounds: KeyBounds, limit: number | undefined): Stored[];
  count(bounds: KeyBounds): number;
}

export function currentRange(current: Current, bounds: KeyBounds, revision: number, { limit, hasExactCount = true }: RangeOptions): RangeResult {
  if (limit !== undefined && !hasExactCount) {
    const items = current.range(bounds, limit + 1);
    return { items: items.slice(0, limit), revision, remaining: Math.max(items.length - limit, 0) };
  }
  const items = current.range(bounds, limit);
  const isCut = limit !== undefined && items.length === limit;
  return { items, revision, remaining: isCut ? current.count(beyond(bounds, items.at(-1))) : 0 };
}

const beyond = (bounds: KeyBounds, last: Stored | undefined): KeyBounds => (last ? { ...bounds, start: last.key, isStartExcluded: true } : bounds);

/**
 * The range of a state of the past: the current one, with the keys that have changed since (`before`, all of them within the bounds) as they were then. As many
 * more of the current keys are read as can fall away, so that a page costs what it holds and what has changed, not what the store holds.
 */
export function pastRange(
  current: Current,
  bounds: KeyBounds,
  before: ReadonlyMap<string, Stored | undefined>,
  revision: number,
  { limit = Infinity }: RangeOptions,
): RangeResult {
  const now = current.range(bounds, limit === Infinity ? undefined : limit + before.size);
  const then = [...before.values()].filter((stored) => stored !== undefined);
  const items = [...now.filter(({ key }) => !before.has(key)), ...then].toSorted((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
  if (limit === Infinity) return { items, revision, remaining: 0 };
  const changedNow = [...before.keys()].filter((key) => current.get(key) !== undefined).length;
  return { items, revision, remaining: current.count(bounds) - changedNow + then.length - items.length };
}

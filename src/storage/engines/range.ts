import type { RangeResult, RangeOptions, Stored } from '../engine.ts';
import { compareKeys } from '../key-order.ts';

/** The current state of a store, in the order of its keys. */
export interface Current {
  /** Keys under the prefix, ascending, beyond `after` where that is given; at most `limit` of them where that is. */
  range(prefix: string, after: string | undefined, limit: number | undefined): Stored[];
  /** How many of them there are beyond `after`. */
  count(prefix: string, after: string | undefined): number;
}

export function currentRange(current: Current, prefix: string, revision: number, { after, limit, hasExactCount = true }: RangeOptions): RangeResult {
  if (limit !== undefined && !hasExactCount) {
    const items = current.range(prefix, after, limit + 1);
    return { items: items.slice(0, limit), revision, remaining: Math.max(items.length - limit, 0) };
  }
  const items = current.range(prefix, after, limit);
  const remaining = limit !== undefined && items.length === limit ? current.count(prefix, items.at(-1)?.key ?? after) : 0;
  return { items, revision, remaining };
}

/**
 * The range of a state of the past: the current one, with the keys that have changed since as they were before. As many more of the current keys are
 * read as can fall away, so that a page costs what it holds and what has changed, not what the store holds.
 */
export function pastRange(
  current: Current,
  prefix: string,
  before: ReadonlyMap<string, Stored | undefined>,
  revision: number,
  options: RangeOptions,
): RangeResult {
  const { after, limit = Infinity } = options;
  const isBeyond = (key: string): boolean => after === undefined || compareKeys(key, after) > 0;
  const now = current.range(prefix, after, limit === Infinity ? undefined : limit + before.size);
  const then = [...before.values()].filter((stored): stored is Stored => stored !== undefined && isBeyond(stored.key));
  const items = [...now.filter(({ key }) => !before.has(key)), ...then].toSorted((a, b) => compareKeys(a.key, b.key)).slice(0, limit);
  if (limit === Infinity) return { items, revision, remaining: 0 };
  const changedNow = [...before.keys()].filter((key) => isBeyond(key) && current.range(key, undefined, 1)[0]?.key === key).length;
  return { items, revision, remaining: current.count(prefix, after) - changedNow + then.length - items.length };
}

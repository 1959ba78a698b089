import type { SlicedWork } from './time-slice.ts';

/** Items that are sorted or merged before others may have their turn. */
const ITEMS_AT_ONCE = 500;

/** As `toSorted`, of many items whose comparison takes a microsecond. */
export function* sortedInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): SlicedWork<T[]> {
  if (items.length <= ITEMS_AT_ONCE) return items.toSorted(compare);
  const middle = items.length >>> 1;
  const left = yield* sortedInSteps(items.slice(0, middle), compare);
  yield;
  const right = yield* sortedInSteps(items.slice(middle), compare);
  const merged: T[] = [];
  for (let leftAt = 0, rightAt = 0; leftAt < left.length || rightAt < right.length;) {
    if (merged.length % ITEMS_AT_ONCE === 0) yield;
    const isLeft = rightAt >= right.length || (leftAt < left.length && compare(left[leftAt]!, right[rightAt]!) <= 0);
    merged.push(isLeft ? left[leftAt++]! : right[rightAt++]!);
  }
  return merged;
}

import { CelList, type CelValue } from '../values.ts';
import { LIST_CREATE_COST, STRING_TRAVERSAL_FACTOR } from './factors.ts';
import { sizeOf, type CallCost } from './size.ts';

/** Costs that cel-go's own extensions bring along (ext/lists.go, ext/sets.go). */
const CALL = 1;

const listCall = (factor: number, size: number): number => Math.trunc(size * factor) + CALL + LIST_CREATE_COST;
const byResult: CallCost = { ofResult: (result) => listCall(1, sizeOf(result)) };
const byDepth: CallCost = ([list, depth]) => listCall(depth === undefined ? 1 : Number(depth), sizeOf(list));

/** All elements against all others. */
function selfCompare(list: CelValue | undefined): number {
  const size = sizeOf(list);
  const first = list instanceof CelList && size > 0 ? list.get(0) : undefined;
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return listCall(2 + (isText ? STRING_TRAVERSAL_FACTOR : 0), size * size);
}

const sets =
  (factor: number): CallCost =>
  ([a, b]) =>
    CALL + Math.trunc(sizeOf(a) * sizeOf(b) * factor);

const BY_OVERLOAD: Readonly<Record<string, CallCost>> = {
  list_slice: byResult,
  lists_range: ([end]) => listCall(1, Math.max(0, Number(end))),
  list_reverse: ([list]) => listCall(1, sizeOf(list)),
  list_flatten: byDepth,
  list_flatten_int: byDepth,
  list_distinct: ([list]) => selfCompare(list),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
};

export function libraryCallCost(overloadId: string): CallCost | undefined {
  if (overloadId.endsWith('_sortByAssociatedKeys')) return ([, keys]) => selfCompare(keys);
  if (/^list_.*_sort$/.test(overloadId)) return ([list]) => selfCompare(list);
  return BY_OVERLOAD[overloadId];
}

import { unknownError } from '../api/errors.ts';
import { formatGo, goTypeOfValue } from '../encoding/go-format.ts';
import { isJsonObject, ownValue } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';
import type { SlicedWork } from '../util/time-slice.ts';

/** What tells one item of a list from another: the value of its merge key, or the item itself. Throws where the key is missing. */
export type ItemKey = (item: Json) => Json;

export function itemKeys(mergeKey: string | undefined): ItemKey {
  if (mergeKey === undefined) return (item) => item;
  return (item) => {
    if (!isJsonObject(item)) throw unknownError(`expected a map[string]interface {}, but received a ${goTypeOfValue(item)}`);
    const key = ownValue(item, mergeKey);
    if (key === undefined) throw unknownError(`map: ${formatGo(item)} does not contain declared merge key: ${mergeKey}`);
    return key;
  };
}

/**
 * The items that `order` names, in its order, with the others put among them where the live list has them:
 *
 *     live    a b c d          items of `order`: d b x
 *     result  a c d b x        a and c stand before d, as they do in the live list; the rest follows `order`
 *
 * As in strategicpatch's normalizeElementOrder: a live item goes before the first ordered item that follows it in the live list.
 */
export function* inOrderOf(items: readonly Json[], order: readonly Json[], live: readonly Json[], keyOf: ItemKey): SlicedWork<Json[]> {
  const ordered = placesOf(order, keyOf);
  yield;
  const lived = placesOf(live, keyOf);
  yield;
  // Every item is looked up once: looked up while they are sorted, a list of thousands took several times as long.
  const named: PlacedItem[] = [];
  const others: PlacedItem[] = [];
  for (const item of items) {
    const key = keyOf(item);
    const [orderedAt, livedAt] = [ordered.get(key), lived.get(key)];
    if (orderedAt !== undefined) named.push({ item, place: orderedAt, livedAt });
    else others.push({ item, place: livedAt ?? 0, livedAt });
  }
  yield;
  sortByPlace(named);
  yield;
  sortByPlace(others);
  yield;
  const result: Json[] = [];
  let next = 0;
  for (const { item, livedAt = -1 } of named) {
    // Others are sorted by where they live, so that each is looked at until one lives later.
    while (next < others.length && (others[next]!.livedAt ?? Infinity) < livedAt) result.push(others[next++]!.item);
    result.push(item);
  }
  for (; next < others.length; next++) result.push(others[next]!.item);
  return result;
}

interface PlacedItem {
  readonly item: Json;
  /** What it is sorted by. */
  readonly place: number;
  /** In the live list, where it is in it. */
  readonly livedAt: number | undefined;
}

/** Most are in order already. */
function sortByPlace(items: PlacedItem[]): void {
  for (let index = 1; index < items.length; index++) {
    if (items[index - 1]!.place <= items[index]!.place) continue;
    items.sort((a, b) => a.place - b.place);
    return;
  }
}

function placesOf(list: readonly Json[], keyOf: ItemKey): Map<Json, number> {
  const places = new Map<Json, number>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, index);
  }
  return places;
}

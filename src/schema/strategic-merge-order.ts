import { unknownError } from '../util/errors.ts';
import { formatGo, goTypeOfValue } from '../util/go-format.ts';
import { isJsonObject, ownValue } from '../util/json.ts';
import type { Json } from '../util/json-types.ts';

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
export function inOrderOf(items: readonly Json[], order: readonly Json[], live: readonly Json[], keyOf: ItemKey): Json[] {
  const ordered = placesOf(order, keyOf);
  const lived = placesOf(live, keyOf);
  const place = (places: ReadonlyMap<Json, number>, item: Json): number | undefined => places.get(keyOf(item));
  const byPlace = (places: ReadonlyMap<Json, number>) => (a: Json, b: Json) => (place(places, a) ?? 0) - (place(places, b) ?? 0);
  const named = items.filter((item) => place(ordered, item) !== undefined).toSorted(byPlace(ordered));
  const others = items.filter((item) => place(ordered, item) === undefined).toSorted(byPlace(lived));
  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    // Others are sorted by where they live, so that each is looked at until one lives later.
    const livedAt = place(lived, item) ?? -1;
    while (next < others.length && (place(lived, others[next]!) ?? Infinity) < livedAt) result.push(others[next++]!);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function placesOf(list: readonly Json[], keyOf: ItemKey): Map<Json, number> {
  const places = new Map<Json, number>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    if (!places.has(key)) places.set(key, index);
  }
  return places;
}

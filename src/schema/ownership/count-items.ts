import { LIMITS } from '../../util/limits.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { ItemError } from './list-items.ts';
import { type TypePlan, resolvePlan } from './type-plan.ts';

/** An object of more items than are told apart: it is stored without owners, and cannot be applied. */
export class TooManyItems extends ItemError {
  constructor() {
    super(`limit is ${LIMITS.ownedItems} items and keys that are owned one by one`);
  }
}

/** Throws TooManyItems. Items and keys have a place each in the set of who owns them, which is made, sorted and written with every change. */
export function checkItems(plan: TypePlan, value: Json): void {
  countItems(plan, value, 0);
}

function countItems(plan: TypePlan, value: Json, before: number): number {
  if (typeof value !== 'object' || value === null) return before;
  const resolved = resolvePlan(plan, value);
  let count = before;
  if (resolved.kind === 'list' && resolved.relation !== 'atomic' && Array.isArray(value)) {
    count += value.length;
    if (count > LIMITS.ownedItems) throw new TooManyItems();
    for (const item of value) count = countItems(resolved.items, item, count);
  } else if (resolved.kind === 'map' && !resolved.isAtomic && isJsonObject(value)) {
    for (const key in value) {
      const field = resolved.byName.get(key);
      if (field === undefined && ++count > LIMITS.ownedItems) throw new TooManyItems();
      const inner = field?.plan ?? resolved.values;
      if (inner !== undefined) count = countItems(inner, value[key] ?? null, count);
    }
  }
  return count;
}

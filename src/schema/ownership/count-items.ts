import { LIMITS } from '../../util/limits.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { ItemError } from './list-items.ts';
import { type TypePlan, resolvePlan } from './type-plan.ts';

/** An object of more items than are told apart: it is stored without owners, and cannot be applied. */
export class TooManyItems extends ItemError {
  constructor(limit: number, what: string) {
    super(`limit is ${limit} ${what} that are owned one by one`);
  }
}

/** Throws TooManyItems. Items, keys and the fields of items have a place each in the set of who owns them, which is made, sorted and written with every change. */
export function checkItems(plan: TypePlan, value: Json): void {
  new ItemCount().add(plan, value, false);
}

class ItemCount {
  #items = 0;
  #fields = 0;

  add(plan: TypePlan, value: Json, isInItem: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    const resolved = resolvePlan(plan, value);
    if (resolved.kind === 'list' && resolved.relation !== 'atomic' && Array.isArray(value)) {
      this.#addItems(value.length);
      for (const item of value) this.add(resolved.items, item, true);
    } else if (resolved.kind === 'map' && !resolved.isAtomic && isJsonObject(value)) {
      for (const key in value) {
        const field = resolved.byName.get(key);
        if (field === undefined) this.#addItems(1);
        else if (isInItem) this.#addField();
        const inner = field?.plan ?? resolved.values;
        if (inner !== undefined) this.add(inner, value[key] ?? null, isInItem || field === undefined);
      }
    }
  }

  #addItems(count: number): void {
    this.#items += count;
    if (this.#items > LIMITS.ownedItems) throw new TooManyItems(LIMITS.ownedItems, 'items and keys');
  }

  #addField(): void {
    if (++this.#fields > LIMITS.ownedFields) throw new TooManyItems(LIMITS.ownedFields, 'fields of items');
  }
}

import { isJsonObject, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { itemElement } from './list-items.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** Longer shapes are broken off: such objects are rarely made twice. */
export const MAX_SHAPE_LENGTH = 4096;

/**
 * All of a value that decides which fields its creator owns: which fields, keys and items it has, and what they hold where something stood before.
 * Values of one shape have the same owner set, and most objects that a cluster makes are of few shapes: those of their
 * templates. One that is longer than MAX_SHAPE_LENGTH says nothing. Throws ItemError.
 */
export function shapeOf(plan: TypePlan, before: Json | undefined, value: Json): string {
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'map' && !resolved.isAtomic && isJsonObject(value)) return shapeOfMap(resolved, isJsonObject(before) ? before : undefined, value);
  if (resolved.kind === 'list' && resolved.relation !== 'atomic' && Array.isArray(value)) return shapeOfList(resolved, value);
  return before === undefined ? ',' : textOf(value);
}

/** Texts carry their lengths, so that no key can be taken for two. */
function shapeOfMap(plan: MapPlan, before: JsonObject | undefined, value: JsonObject): string {
  let shape = '{';
  for (const key in value) {
    const item = value[key];
    if (item === undefined) continue;
    if (shape.length > MAX_SHAPE_LENGTH) break;
    const field = plan.byName.get(key);
    shape += field === undefined ? textOf(key) : field.mark;
    shape += shapeOf(field?.plan ?? plan.values!, before === undefined ? undefined : before[key], item);
  }
  return `${shape}}`;
}

function shapeOfList(plan: ListPlan, items: readonly Json[]): string {
  let shape = '[';
  for (const item of items) {
    if (shape.length > MAX_SHAPE_LENGTH) break;
    shape += shapeOfName(plan, item) + shapeOf(plan.items, undefined, item);
  }
  return `${shape}]`;
}

/** What names an item, without writing its element out; items that have no name are the element's to refuse. */
function shapeOfName(plan: ListPlan, item: Json): string {
  if (plan.relation !== 'map' || !isJsonObject(item)) return textOf(itemElement(plan, item));
  let shape = '';
  for (const { name } of plan.keys) {
    const value = item[name];
    shape += value === undefined ? ',' : textOf(value);
  }
  return shape === ','.repeat(plan.keys.length) ? textOf(itemElement(plan, item)) : shape;
}

function textOf(value: Json): string {
  if (typeof value === 'string') return `${value.length}"${value}`;
  return typeof value === 'object' ? stringifyJson(value) : `${value};`;
}

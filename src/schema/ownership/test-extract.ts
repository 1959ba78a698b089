import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type FieldSet, branch } from './field-set.ts';
import { itemElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** Only the given fields and items of the object. */
export const extractFields = (plan: TypePlan, object: JsonObject, fields: FieldSet): JsonObject => (only(plan, object, fields) ?? {}) as JsonObject;

function only(plan: TypePlan, value: Json, fields: FieldSet): Json {
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'map' && !resolved.isAtomic && isJsonObject(value)) return onlyOfMap(resolved, value, fields);
  return resolved.kind === 'list' && resolved.relation !== 'atomic' && Array.isArray(value) ? onlyOfList(resolved, value, fields) : value;
}

function onlyOfMap(plan: MapPlan, value: JsonObject, fields: FieldSet): JsonObject {
  const out: JsonObject = {};
  for (const key in value) {
    const item = value[key];
    const field = plan.byName.get(key);
    const { isMember, below } = branch(fields, field?.element ?? fieldElement(key));
    if (item === undefined || (!isMember && below === undefined)) continue;
    setKey(out, key, below === undefined ? item : only(field?.plan ?? plan.values!, item, below));
  }
  return out;
}

function onlyOfList(plan: ListPlan, value: readonly Json[], fields: FieldSet): Json[] {
  const out: Json[] = [];
  for (const item of value) {
    const { isMember, below } = branch(fields, itemElement(plan, item));
    if (isMember || below !== undefined) out.push(below === undefined ? item : only(plan.items, item, below));
  }
  return out;
}

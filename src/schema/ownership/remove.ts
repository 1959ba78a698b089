import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type FieldSet, branch, isEmpty } from './field-set.ts';
import { itemElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** The object without the given fields and items. What is left empty becomes null, as it does upstream (typed/remove.go). */
export const removeFields = (plan: TypePlan, object: JsonObject, fields: FieldSet): JsonObject =>
  isEmpty(fields) ? object : ((without(plan, object, fields) ?? {}) as JsonObject);

function without(plan: TypePlan, value: Json, fields: FieldSet): Json {
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'scalar') return value;
  if (resolved.kind === 'map') return resolved.isAtomic || !isJsonObject(value) ? null : mapWithout(resolved, value, fields);
  return resolved.relation === 'atomic' || !Array.isArray(value) ? null : listWithout(resolved, value, fields);
}

function mapWithout(plan: MapPlan, value: JsonObject, fields: FieldSet): JsonObject | null {
  const out: JsonObject = {};
  for (const key in value) {
    const item = value[key];
    const field = plan.byName.get(key);
    const { isMember, below } = branch(fields, field?.element ?? fieldElement(key));
    if (item === undefined || isMember) continue;
    setKey(out, key, below === undefined ? item : without(field?.plan ?? plan.values!, item, below));
  }
  return Object.keys(out).length > 0 ? out : null;
}

function listWithout(plan: ListPlan, value: readonly Json[], fields: FieldSet): Json[] | null {
  const out: Json[] = [];
  for (const item of value) {
    const { isMember, below } = branch(fields, itemElement(plan, item));
    if (!isMember) out.push(below === undefined ? item : without(plan.items, item, below));
  }
  return out.length > 0 ? out : null;
}

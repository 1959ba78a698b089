import { hasKeys, isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { EMPTY, type FieldSet, LEAF, draft, sealBranch, sealMember } from './field-set.ts';
import { itemElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/**
 * Every field that a value mentions: scalars and what is owned as a whole, items of lists, keys of maps; fields of structs only where they hold nothing
 * (typed/tofieldset.go).
 */
export const fieldsOf = (plan: TypePlan, value: Json): FieldSet => mentioned(plan, value, false) ?? EMPTY;

/** Undefined where neither the value itself nor anything in it is mentioned. */
function mentioned(plan: TypePlan, value: Json, isMember: boolean): FieldSet | undefined {
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'map' && !resolved.isAtomic) return mentionedInMap(resolved, value, isMember);
  if (resolved.kind === 'list' && resolved.relation !== 'atomic') return mentionedInList(resolved, value, isMember);
  return LEAF;
}

function mentionedInMap(plan: MapPlan, value: Json, isMember: boolean): FieldSet | undefined {
  const out = draft(isMember);
  if (isJsonObject(value)) {
    for (const key in value) {
      const item = value[key];
      if (item === undefined) continue;
      const field = plan.byName.get(key);
      const child = mentioned(field?.plan ?? plan.values!, item, field === undefined || isNothing(item));
      if (child !== undefined) out[field?.element ?? fieldElement(key)] = child;
    }
  }
  return sealBranch(out);
}

/** Null, and an object that holds nothing, are mentioned although nothing in them is. */
const isNothing = (value: Json): boolean => (isJsonObject(value) ? !hasKeys(value) : value === null);

function mentionedInList(plan: ListPlan, value: Json, isMember: boolean): FieldSet | undefined {
  const out = draft(isMember);
  if (Array.isArray(value)) {
    const { items } = plan;
    for (const item of value) {
      const element = itemElement(plan, item);
      // Items that share a name are owned together, as a whole.
      out[element] = out[element] === undefined ? (mentioned(items, item, true) ?? LEAF) : LEAF;
    }
  }
  return sealBranch(out);
}

/** A value and all in it, as whoever adds or removes the whole of it comes to own or lose it: structs too are members. */
export function wholeOf(plan: TypePlan, value: Json): FieldSet {
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'map') return resolved.isAtomic || !isJsonObject(value) ? LEAF : wholeMap(resolved, value);
  return resolved.kind === 'list' && resolved.relation !== 'atomic' && Array.isArray(value) ? wholeList(resolved, value) : LEAF;
}

function wholeMap(plan: MapPlan, value: { [key: string]: Json | undefined }): FieldSet {
  const out = draft(true);
  // Fields in the order of their names spare the sorting of what is made here.
  for (const field of plan.fields) {
    const item = value[field.name];
    if (item !== undefined) out[field.element] = wholeOf(field.plan, item);
  }
  const { values } = plan;
  if (values !== undefined)
    for (const key in value) if (value[key] !== undefined && !plan.byName.has(key)) out[fieldElement(key)] = wholeOf(values, value[key]);
  return sealMember(out);
}

function wholeList(plan: ListPlan, items: readonly Json[]): FieldSet {
  const out = draft(true);
  for (const item of items) {
    const element = itemElement(plan, item);
    out[element] = out[element] === undefined ? wholeOf(plan.items, item) : LEAF;
  }
  return items.length === 0 ? LEAF : out;
}

import { type FieldSet, type FieldSetDraft, LEAF, branch, union, recursiveDifference, withSelf } from './field-set.ts';
import type { PathElement } from './path-element.ts';
import { type MapPlan, type TypePlan } from './type-plan.ts';

/** The set with the fields of structs that it has something below: only they are not members by themselves (Set.EnsureNamedFieldsAreMembers). */
export function withNamedFields(set: FieldSet, plan: TypePlan | undefined): FieldSet {
  const out: FieldSetDraft = {};
  for (const element in set) {
    const node = set[element]!;
    const { below } = branch(set, element);
    if (element === '.' || below === undefined) {
      out[element] = node;
      continue;
    }
    const { plan: child, isNamed } = childPlan(plan, element);
    const inner = withNamedFields(node, child);
    out[element] = isNamed ? withSelf(inner) : inner;
  }
  return out;
}

function childPlan(plan: TypePlan | undefined, element: PathElement): { plan: TypePlan | undefined; isNamed: boolean } {
  const map = plan?.kind === 'any' ? plan.map : plan?.kind === 'map' ? plan : undefined;
  const list = plan?.kind === 'any' ? plan.list : plan?.kind === 'list' ? plan : undefined;
  if (element.startsWith('f:')) {
    const field = map?.byName.get(element.slice(2));
    return { plan: field?.plan ?? map?.values, isNamed: field !== undefined };
  }
  return { plan: element.startsWith('k:') ? list?.items : undefined, isNamed: false };
}

/**
 * The set where types have become owned as a whole since it was written: who owned anything in such a one owns all of it. The set itself where nothing
 * changed (typed/reconcile_schema.go).
 */
export function reconciled(set: FieldSet, plan: TypePlan): FieldSet {
  const outdated = belowAtomic(set, plan);
  return outdated === undefined ? set : union(recursiveDifference(set, outdated), outdated);
}

/** The paths of all that is owned as a whole by its type, but below which the set has members. */
function belowAtomic(set: FieldSet, plan: TypePlan): FieldSet | undefined {
  if (plan.kind === 'scalar' || (plan.kind === 'any' && isDeduced(plan.map))) return undefined;
  let found: FieldSetDraft | undefined;
  for (const element in set) {
    const { below } = branch(set, element);
    const child = below === undefined ? undefined : childOf(plan, element);
    if (below === undefined || child === undefined) continue;
    const inner = isOwnedWhole(child) ? LEAF : belowAtomic(below, child);
    if (inner !== undefined) (found ??= {})[element] = inner;
  }
  return found;
}

const childOf = (plan: TypePlan, element: PathElement): TypePlan | undefined => {
  if (plan.kind === 'list') return plan.items;
  const map = plan.kind === 'any' ? plan.map : plan.kind === 'map' ? plan : undefined;
  return map?.byName.get(element.slice(2))?.plan ?? map?.values;
};

function isOwnedWhole(plan: TypePlan): boolean {
  if (plan.kind === 'list') return plan.relation === 'atomic';
  return plan.kind === 'any' ? plan.map.isAtomic : plan.kind === 'map' && plan.isAtomic;
}

/** Anything at all: such types say nothing about ownership, and never change in it. */
const isDeduced = (map: MapPlan): boolean => map.fields.length === 0;

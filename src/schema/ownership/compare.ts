import { equalJson } from '../../encoding/json-equal.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { EMPTY, type FieldSet, type FieldSetDraft, LEAF, isEmpty, union } from './field-set.ts';
import { wholeOf } from './fields-of.ts';
import { itemElement, itemsByElement } from './list-items.ts';
import { type PathElement, fieldElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** What became of fields; no field is in two of the sets. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export const isSame = ({ removed, modified, added }: Comparison): boolean => isEmpty(removed) && isEmpty(modified) && isEmpty(added);

/** What changed from one object to another of the same type (typed/compare.go). */
export function compareObjects(plan: TypePlan, before: JsonObject, after: JsonObject, emptied: Emptied = NONE_EMPTIED): Comparison {
  const { removed = EMPTY, modified = EMPTY, added = EMPTY } = changes(plan, before, after, emptied) ?? {};
  return { removed, modified, added };
}

/** What changed at and below one element; absent where nothing did. */
interface Changes {
  removed?: FieldSet;
  modified?: FieldSet;
  added?: FieldSet;
}

function changes(plan: TypePlan, before: Json | undefined, after: Json | undefined, emptied: Emptied): Changes | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: wholeOf(plan, after!) };
  if (after === undefined) return { removed: wholeOf(plan, before) };
  const [left, right] = [resolvePlan(plan, before), resolvePlan(plan, after)];
  if (left === right) return changesAs(left, before, after, emptied);
  // It became something of another form: whole, and then field by field in its new form.
  return together(changesAs(left, before, after, emptied), changesAs(right, before, after, emptied));
}

function changesAs(plan: TypePlan, before: Json, after: Json, emptied: Emptied): Changes | undefined {
  if (plan.kind === 'map' && !plan.isAtomic) {
    const [left, right] = [isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {}];
    if (!isEmptyObject(left) || !isEmptyObject(right)) return changesInMap(plan, left, right, emptied);
  } else if (plan.kind === 'list' && plan.relation !== 'atomic') {
    const [left, right] = [Array.isArray(before) ? before : [], Array.isArray(after) ? after : []];
    if (left.length > 0 || right.length > 0) return changesInList(plan, left, right, emptied);
  }
  return equalJson(before, after) && !hasEmptiedItem(after, emptied) ? undefined : { modified: LEAF };
}

/** The objects in which a list or map was sent empty. */
type Emptied = ReadonlySet<object>;

const NONE_EMPTIED: Emptied = new Set();

/**
 * Whether an item of a list in the value has a list or map that was sent empty. Upstream compares lists that are owned as a whole by reflect.DeepEqual, to
 * which these are not what they are when nothing was sent (structured-merge-diff value/listreflect.go).
 */
function hasEmptiedItem(value: Json, emptied: Emptied, isInList = false): boolean {
  if (emptied.size === 0 || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasEmptiedItem(item, emptied, true));
  if (isInList && emptied.has(value)) return true;
  for (const key in value) if (hasEmptiedItem(value[key] ?? null, emptied, isInList)) return true;
  return false;
}

const isEmptyObject = (object: JsonObject): boolean => {
  for (const key in object) if (object[key] !== undefined) return false;
  return true;
};

function changesInMap(plan: MapPlan, before: JsonObject, after: JsonObject, emptied: Emptied): Changes | undefined {
  const found = new ChangesBelow();
  for (const key in before) addKey(found, plan, key, before[key], Object.hasOwn(after, key) ? after[key] : undefined, emptied);
  for (const key in after) if (!Object.hasOwn(before, key) || before[key] === undefined) addKey(found, plan, key, undefined, after[key], emptied);
  return found.result;
}

function addKey(found: ChangesBelow, plan: MapPlan, key: string, before: Json | undefined, after: Json | undefined, emptied: Emptied): void {
  if (before === after) return;
  const field = plan.byName.get(key);
  found.add(field?.element ?? fieldElement(key), changes(field?.plan ?? plan.values!, before, after, emptied));
}

const NO_ITEMS: readonly Json[] = [];

function changesInList(plan: ListPlan, before: readonly Json[], after: readonly Json[], emptied: Emptied): Changes | undefined {
  const [changedBefore, changedAfter] = emptied.size === 0 ? withoutCommonEnds(plan, before, after) : [before, after];
  const found = new ChangesBelow();
  const [left, right] = [itemsByElement(plan, changedBefore), itemsByElement(plan, changedAfter)];
  for (const [element, items] of left) found.add(element, itemChanges(plan.items, items, right.get(element) ?? NO_ITEMS, emptied));
  for (const [element, items] of right) if (!left.has(element)) found.add(element, itemChanges(plan.items, NO_ITEMS, items, emptied));
  return found.result;
}

/** Shorter lists are compared whole. */
const LONG_LIST = 100;

/** Long lists mostly begin and end as they did. Items that share their name with one of these are compared with it, so that nothing is left out then. */
function withoutCommonEnds(plan: ListPlan, before: readonly Json[], after: readonly Json[]): [readonly Json[], readonly Json[]] {
  const shorter = Math.min(before.length, after.length);
  if (shorter < LONG_LIST) return [before, after];
  let start = 0;
  while (start < shorter && equalJson(before[start]!, after[start]!)) start++;
  let behind = 0;
  while (behind < shorter - start && equalJson(before.at(-1 - behind)!, after.at(-1 - behind)!)) behind++;
  const [left, right] = [before.slice(start, before.length - behind), after.slice(start, after.length - behind)];
  const names = new Set<PathElement>();
  for (let index = 0; index < before.length; index++) if (index < start || index >= before.length - behind) names.add(itemElement(plan, before[index]!));
  const isShared = (item: Json): boolean => names.has(itemElement(plan, item));
  return left.some(isShared) || right.some(isShared) ? [before, after] : [left, right];
}

/** Items that share a name are one thing that is there or not, and changes as a whole. */
function itemChanges(plan: TypePlan, before: readonly Json[], after: readonly Json[], emptied: Emptied): Changes | undefined {
  if (before.length <= 1 && after.length <= 1) return changes(plan, before[0], after[0], emptied);
  if (before.length >= 2 && after.length >= 2) return equalJson(before, after) ? undefined : { modified: LEAF };
  if (before.length >= 2) return together(after.length === 1 ? changes(plan, undefined, after[0], emptied) : undefined, { removed: LEAF });
  return together(before.length === 1 ? changes(plan, before[0], undefined, emptied) : undefined, { added: LEAF });
}

/** Collects what changed below an element; makes nothing until something did. */
class ChangesBelow {
  result: { removed?: FieldSetDraft; modified?: FieldSetDraft; added?: FieldSetDraft } | undefined;

  add(element: PathElement, below: Changes | undefined): void {
    if (below === undefined) return;
    const result = (this.result ??= {});
    if (below.removed !== undefined) (result.removed ??= {})[element] = below.removed;
    if (below.modified !== undefined) (result.modified ??= {})[element] = below.modified;
    if (below.added !== undefined) (result.added ??= {})[element] = below.added;
  }
}

function together(a: Changes | undefined, b: Changes | undefined): Changes | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const joined: Changes = {};
  for (const kind of ['removed', 'modified', 'added'] as const) {
    const [left, right] = [a[kind], b[kind]];
    if (left !== undefined || right !== undefined) joined[kind] = left !== undefined && right !== undefined ? joinBelow(left, right) : (left ?? right)!;
  }
  return joined;
}

/** Of one element, which is a member where either says so. */
const joinBelow = (a: FieldSet, b: FieldSet): FieldSet => union({ 'f:': a }, { 'f:': b })['f:']!;

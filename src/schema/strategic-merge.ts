import { badRequest, genericInvalid, requestEntityTooLarge, unknownError } from '../api/errors.ts';
import { formatGo, goTypeOfValue } from '../encoding/go-format.ts';
import { isJsonObject, ownValue, setKey } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';
import { type SlicedWork, runAtOnce } from '../util/time-slice.ts';
import { parsePatchObject } from './merge-patch.ts';
import type { ObjectSchema, TypeSchema } from './schema.ts';
import { type MergeLookup, lookUpList, lookUpObject } from './strategic-merge-lookup.ts';
import { type ItemKey, inOrderOf, itemKeys } from './strategic-merge-order.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const SET_ORDER = '$setElementOrder';
const DELETE_ITEMS = '$deleteFromPrimitiveList';

/** Reads a strategic merge patch's body; null is an empty patch. `strictErrors` as of a merge patch. Throws 400 where it is no JSON object. */
export function* parseStrategicMergePatch(body: string | Uint8Array, strictErrors?: string[]): SlicedWork<JsonObject> {
  return (yield* parsePatchObject(body, '', strictErrors)) ?? {};
}

/**
 * apimachinery/pkg/util/strategicpatch: the document with the patch merged in, lists by their merge keys, directives applied. Neither is changed. The
 * result is to be read by `convert`. Throws as upstream answers: 400 or 422 for a directive of the wrong form, else 500 with the bare message.
 */
export function* applyStrategicMergePatch(
  schema: ObjectSchema,
  document: JsonObject,
  patch: JsonObject,
  budget = new StepBudget(LIMITS.strategicMergeSteps),
): SlicedWork<JsonObject> {
  try {
    return yield* mergeObject(schema, document, patch, budget);
  } catch (error) {
    throw error instanceof BudgetExceeded ? requestEntityTooLarge(`limit is ${error.limit} steps of a strategic merge patch`) : error;
  }
}

/**
 * The patch as upstream's errors show it, which merges it in place: directives that were applied are gone, and the nulls of what there was nothing to merge
 * with.
 */
export function patchAfterMerge(type: TypeSchema, document: JsonObject, patch: JsonObject): JsonObject {
  if (ownValue(patch, DIRECTIVE) !== undefined) return patch[DIRECTIVE] === 'replace' ? applyDirective('replace', patch) : patch;
  const retained = ownValue(patch, RETAIN_KEYS);
  const kept = Array.isArray(retained) ? new Set(retained) : undefined;
  const ordered = new Set(Object.keys(patch).flatMap((key) => (key.startsWith(SET_ORDER) ? [key, key.slice(SET_ORDER.length + 1)] : [])));
  const rest: JsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || ordered.has(key)) continue;
    const current = kept === undefined || kept.has(key) ? ownValue(document, key) : undefined;
    const isMatched = value === null || (current !== undefined && goTypeOfValue(current) === goTypeOfValue(value));
    if (!isMatched) setKey(rest, key, keptOfNew(withoutNulls(value!)));
    else setKey(rest, key, valueAfterMerge(type, key, current, value!));
  }
  return rest;
}

/** What was merged into something is gone through; what replaced it stays. */
function valueAfterMerge(type: TypeSchema, key: string, current: Json | undefined, value: Json): Json {
  if (isJsonObject(current) && isJsonObject(value)) {
    const lookup = lookUpObject(type, key);
    return lookup.strategy === 'replace' ? value : patchAfterMerge(lookup.type, current, value);
  }
  if (!Array.isArray(current) || !Array.isArray(value)) return value;
  const { strategy, mergeKey: itemKey, type: items } = lookUpList(type, key);
  const isReplaced = value.some((item) => isJsonObject(item) && ownValue(item, DIRECTIVE) === 'replace');
  if (strategy !== 'merge' || itemKey === undefined || isReplaced) return value;
  return itemsAfterMerge(items, itemKey, current, value);
}

/** An item that is new is taken as it stands in the patch: what comes behind it with the same key is merged into it there. */
function itemsAfterMerge(type: TypeSchema, itemKey: string, current: readonly Json[], patch: readonly Json[]): Json[] {
  const budget = new StepBudget(LIMITS.strategicMergeSteps);
  const shown = [...patch];
  const merged = new Map<Json | undefined, { object: JsonObject; place?: number }>();
  for (const item of current.toReversed()) if (isJsonObject(item)) merged.set(ownValue(item, itemKey), { object: item });
  for (const [index, item] of patch.entries()) {
    if (!isJsonObject(item) || ownValue(item, DIRECTIVE) !== undefined) continue;
    const before = merged.get(ownValue(item, itemKey));
    if (before === undefined) merged.set(ownValue(item, itemKey), { object: item, place: index });
    else {
      shown[index] = patchAfterMerge(type, before.object, item);
      before.object = runAtOnce(mergeObject(type, before.object, item, budget));
      if (before.place !== undefined) shown[before.place] = before.object;
    }
  }
  return shown;
}

/** A value that is an order itself is not taken, and so stays whole. */
const keptOfNew = (value: Json): Json => (Array.isArray(value) ? value.map(keptOfNew) : (withoutDirectives(value) ?? value));

/** Each item of a list is looked up several times, by its key, its place in the list and its place in the patch. */
const STEPS_OF_ITEM = 10;
/** Texts and numbers are their own keys. */
const STEPS_OF_PLAIN_ITEM = 5;

/** One patch may name the same item thousands of times, and each time what is in it is gone through: that is what the budget counts. */
function* mergeObject(type: TypeSchema, original: JsonObject, patch: JsonObject, budget: StepBudget): SlicedWork<JsonObject> {
  const directive = ownValue(patch, DIRECTIVE);
  if (directive !== undefined) return applyDirective(directive, patch);
  const merged: JsonObject = { ...original };
  const rest: JsonObject = { ...patch };
  const keys = Object.keys(rest);
  budget.spend(1 + keys.length + Object.keys(merged).length);
  retainKeys(merged, rest);
  yield* setElementOrders(type, merged, rest, budget);
  for (const key of keys) if (Object.hasOwn(rest, key)) yield* mergeKey(type, merged, key, rest[key]!, budget);
  return merged;
}

function applyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownPatchType(directive, patch);
  const { [DIRECTIVE]: _directive, ...replacement } = patch;
  return replacement;
}

/** `$retainKeys` lists the keys that stay; those that the patch sets must be among them. */
function retainKeys(merged: JsonObject, patch: JsonObject): void {
  const retained = ownValue(patch, RETAIN_KEYS);
  if (retained === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(retained)) throw badRequest('invalid patch format of retainKeys');
  const keys = new Set(retained);
  for (const key of Object.keys(patch)) {
    const isDirective = key.startsWith(DELETE_ITEMS) || key.startsWith(SET_ORDER);
    if (patch[key] !== null && !isDirective && !keys.has(key)) throw badRequest('invalid patch format of retainKeys');
  }
  for (const key of Object.keys(merged)) if (!keys.has(key)) delete merged[key];
}

function* mergeKey(type: TypeSchema, merged: JsonObject, patchKey: string, patchValue: Json, budget: StepBudget): SlicedWork<void> {
  const isDeletion = patchKey.startsWith(DELETE_ITEMS);
  const key = isDeletion ? suffixOf(patchKey, DELETE_ITEMS, 'invalid patch format of primitive list') : patchKey;
  if (patchValue === null) {
    delete merged[key];
    return;
  }
  const current = ownValue(merged, key);
  if (current === undefined || goTypeOfValue(current) !== goTypeOfValue(patchValue)) {
    if (!isDeletion) setOrDelete(merged, key, withoutDirectives(withoutNulls(patchValue)));
    return;
  }
  if (isJsonObject(current)) {
    const lookup = lookUpObject(type, key);
    setKey(merged, key, lookup.strategy === 'replace' ? patchValue : yield* mergeObject(lookup.type, current, patchValue as JsonObject, budget));
  } else if (Array.isArray(current)) setKey(merged, key, yield* mergeListField(lookUpList(type, key), current, patchValue as Json[], isDeletion, budget));
  else setKey(merged, key, patchValue);
}

/** `name` of `$setElementOrder/name`. */
function suffixOf(key: string, prefix: string, complaint: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(complaint);
  return key.slice(prefix.length + 1);
}

function setOrDelete(object: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete object[key];
  else setKey(object, key, value);
}

function* mergeListField(lookup: MergeLookup, current: Json[], patch: Json[], isDeletion: boolean, budget: StepBudget): SlicedWork<Json[]> {
  return lookup.strategy === 'merge' || isDeletion ? yield* mergeList(lookup, current, patch, isDeletion, budget) : patch;
}

function* mergeList(lookup: MergeLookup, current: Json[], patch: Json[], isDeletion: boolean, budget: StepBudget): SlicedWork<Json[]> {
  if (current.length === 0 && patch.length === 0) return current;
  const isPlain = typeof (current[0] ?? patch[0]) !== 'object';
  budget.spend((isPlain ? STEPS_OF_PLAIN_ITEM : STEPS_OF_ITEM) * (current.length + patch.length));
  if (!holdObjects(current, patch)) {
    if (isDeletion) {
      const deleted = new Set(patch);
      return current.filter((item) => !deleted.has(item));
    }
    return yield* inOrderOf([...new Set([...current, ...patch])], patch, current, itemKeys(undefined));
  }
  const { mergeKey: key } = lookup;
  if (key === undefined) throw unknownError(`cannot merge lists without merge key for ${lookup.type.type === 'object' ? 'struct' : lookup.type.type}`);
  const { kept, items } = applyListDirectives(current as JsonObject[], patch as JsonObject[], key);
  const merged = yield* mergeItems(lookup.type, kept, items, key, budget);
  return yield* inOrderOf(merged, items, kept, itemKeys(key));
}

/** Whether the items are objects. They must all be of one type, and no lists. */
function holdObjects(...lists: Json[][]): boolean {
  const some = lists.find((list) => list.length > 0);
  if (some === undefined) throw unknownError('no elements in any of the given slices');
  const first = goTypeOfValue(some[0]);
  if (first === '[]interface {}') throw genericInvalid();
  for (const list of lists)
    for (const item of list) if (goTypeOfValue(item) !== first) throw unknownError(`list element types are not identical: ${formatGo(lists)}`);
  return first === 'map[string]interface {}';
}

/** Items with a `$patch` are orders: delete the item of this key, or replace the whole list. */
function applyListDirectives(current: JsonObject[], patch: JsonObject[], key: string): { kept: JsonObject[]; items: JsonObject[] } {
  const items = patch.filter((item) => ownValue(item, DIRECTIVE) === undefined);
  const deleted = new Set<Json>();
  let isReplaced = false;
  for (const item of patch) {
    const directive = ownValue(item, DIRECTIVE);
    if (directive === undefined) continue;
    if (directive === 'replace') isReplaced = true;
    else if (directive === 'merge') throw unknownError('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete') throw unknownPatchType(directive, item);
    else deleted.add(requireKey(item, key));
  }
  if (isReplaced) return { kept: items, items: [] };
  return { kept: deleted.size === 0 ? current : current.filter((candidate) => !deleted.has(ownValue(candidate, key) as Json)), items };
}

/** Items that are merged before others may have their turn. */
const ITEMS_AT_ONCE = 64;

function* mergeItems(
  type: TypeSchema,
  current: readonly JsonObject[],
  patch: readonly JsonObject[],
  key: string,
  budget: StepBudget,
): SlicedWork<JsonObject[]> {
  const merged = [...current];
  const places = new Map<Json | undefined, number>();
  for (const [place, item] of merged.entries()) if (!places.has(ownValue(item, key))) places.set(ownValue(item, key), place);
  for (const [index, item] of patch.entries()) {
    if (index % ITEMS_AT_ONCE === 0) yield;
    const value = requireKey(item, key);
    const place = places.get(value);
    if (place !== undefined) merged[place] = yield* mergeObject(type, merged[place]!, item, budget);
    else places.set(value, merged.push(item) - 1);
  }
  return merged;
}

/** `$setElementOrder/list` gives the order of the list's items; the list's own patch is merged along with it. */
function* setElementOrders(type: TypeSchema, merged: JsonObject, patch: JsonObject, budget: StepBudget): SlicedWork<void> {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(SET_ORDER)) continue;
    const order = requireList(patch[directive]!);
    delete patch[directive];
    const key = suffixOf(directive, SET_ORDER, 'invalid patch format of setElementOrder list');
    const current = ownValue(merged, key);
    const sent = ownValue(patch, key);
    const currentItems = current === undefined ? [] : requireList(current);
    const sentItems = sent === undefined ? [] : requireList(sent);
    budget.spend(STEPS_OF_ITEM * (order.length + currentItems.length + sentItems.length));
    const lookup = lookUpList(type, key);
    checkOrder(sentItems, order, lookup.mergeKey);
    if (current === undefined && sent === undefined) continue;
    const both =
      current === undefined
        ? (withoutDirectives(sentItems) as Json[])
        : sent === undefined
          ? currentItems
          : yield* mergeListField(lookup, currentItems, sentItems, false, budget);
    holdObjects(currentItems, sentItems);
    setKey(merged, key, yield* inOrderOf(both, order, currentItems, itemKeys(lookup.mergeKey)));
    delete patch[key];
  }
}

/** What the patch adds or changes must stand in the order list, in the same order. */
function checkOrder(sent: readonly Json[], order: readonly Json[], mergeKeyName: string | undefined): void {
  if (sent.length === 0 || order.length === 0) return;
  const keyOf: ItemKey = itemKeys(mergeKeyName);
  const items = mergeKeyName === undefined ? sent : sent.filter((item) => ownValue(requireObject(item), DIRECTIVE) === undefined);
  let next = 0;
  for (const ordered of order) {
    if (next < items.length && keyOf(items[next]!) === keyOf(ordered)) next++;
  }
  if (next < items.length) throw unknownError(`The order in patch list:\n${formatGo([...sent])}\n doesn't match ${SET_ORDER} list:\n${formatGo([...order])}\n`);
}

/** A new value keeps no orders: undefined where it is one itself. */
function withoutDirectives(value: Json): Json | undefined {
  if (isJsonObject(value) && ownValue(value, DIRECTIVE) !== undefined) return undefined;
  return changedInside(value, withoutDirectives);
}

const withoutNulls = (value: Json): Json => changedInside(value, Array.isArray(value) ? withoutNulls : nonNull);
const nonNull = (value: Json): Json | undefined => (value === null ? undefined : withoutNulls(value));

/** What is in a list or an object changed, and left out where that is undefined. Mostly nothing is: then it is the value itself, of which no copy is made. */
function changedInside(value: Json, change: (inner: Json) => Json | undefined): Json {
  if (Array.isArray(value)) return changedItems(value, change);
  if (!isJsonObject(value)) return value;
  let rest: JsonObject | undefined;
  for (const key in value) {
    const kept = change(value[key]!);
    if (kept === value[key]) continue;
    rest ??= { ...value };
    if (kept === undefined) delete rest[key];
    else setKey(rest, key, kept);
  }
  return rest ?? value;
}

function changedItems(items: Json[], change: (item: Json) => Json | undefined): Json[] {
  let rest: Json[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const kept = change(items[index]!);
    if (rest === undefined && kept !== items[index]) rest = items.slice(0, index);
    if (rest !== undefined && kept !== undefined) rest.push(kept);
  }
  return rest ?? items;
}

function requireKey(item: JsonObject, key: string): Json {
  const value = ownValue(item, key);
  if (value === undefined) throw unknownError(`map: ${formatGo(item)} does not contain declared merge key: ${key}`);
  return value;
}

function requireObject(value: Json): JsonObject {
  if (!isJsonObject(value)) throw unknownError(`expected a map[string]interface {}, but received a ${goTypeOfValue(value)}`);
  return value;
}

function requireList(value: Json): Json[] {
  if (!Array.isArray(value)) throw unknownError(`expected a []interface {}, but received a ${goTypeOfValue(value)}`);
  return value;
}

const unknownPatchType = (directive: Json, patch: JsonObject): Error => unknownError(`unknown patch type: ${formatGo(directive)} in map: ${formatGo(patch)}`);

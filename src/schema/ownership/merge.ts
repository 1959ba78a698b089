import { hasKeys, isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { itemElement } from './list-items.ts';
import type { PathElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/**
 * The live object with all that the applied one says: its scalars and what is owned as a whole win, maps and lists are joined. Nothing is removed.
 * What is not changed is shared with both. The applied object must be valid (typed/merge.go).
 */
export const mergeObjects = (plan: TypePlan, live: JsonObject, applied: JsonObject): JsonObject => merged(plan, live, applied) as JsonObject;

function merged(plan: TypePlan, live: Json | undefined, applied: Json | undefined): Json | undefined {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  const resolved = resolvePlan(plan, applied);
  if (resolved.kind === 'map' && !resolved.isAtomic) {
    const [left, right] = [isJsonObject(live) ? live : {}, isJsonObject(applied) ? applied : {}];
    return hasKeys(left) || hasKeys(right) ? mergedMap(resolved, left, right) : applied;
  }
  if (resolved.kind === 'list' && resolved.relation !== 'atomic') {
    const [left, right] = [Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : []];
    return left.length > 0 || right.length > 0 ? mergedList(resolved, left, right) : applied;
  }
  return applied;
}

function mergedMap(plan: MapPlan, live: JsonObject, applied: JsonObject): JsonObject {
  const out = { ...live };
  for (const key in applied) {
    const value = merged(plan.byName.get(key)?.plan ?? plan.values!, Object.hasOwn(live, key) ? live[key] : undefined, applied[key]);
    if (value !== undefined) setKey(out, key, value);
  }
  return out;
}

/** One side of a list that is merged. */
interface Side {
  readonly elements: readonly PathElement[];
  /** Items by name; undefined for a name that several share, which are not merged with anything. */
  readonly items: ReadonlyMap<PathElement, Json | undefined>;
}

function sideOf(plan: ListPlan, list: readonly Json[]): Side {
  const items = new Map<PathElement, Json | undefined>();
  const elements = list.map((item) => itemElement(plan, item));
  for (const [index, element] of elements.entries()) items.set(element, items.has(element) ? undefined : list[index]);
  return { elements, items };
}

/**
 * Both in one order: that of the applied list for what it has, with the live list's other items in between where they stood. Live items that the applied
 * list has too are passed over until it is their turn.
 */
function mergedList(plan: ListPlan, live: readonly Json[], applied: readonly Json[]): Json[] {
  const [left, right] = [sideOf(plan, live), sideOf(plan, applied)];
  const shared = right.elements.filter((element) => left.items.has(element));
  const done = new Set<PathElement>();
  const out: Json[] = [];
  const take = (element: PathElement): void => {
    done.add(element);
    if (shared[0] === element) shared.shift();
    out.push(merged(plan.items, left.items.get(element), right.items.get(element))!);
  };
  for (let l = 0, r = 0; l < left.elements.length || r < right.elements.length;) {
    const [mine, theirs] = [left.elements[l], right.elements[r]];
    if (mine !== undefined && mine === theirs) {
      take(mine);
      l++;
      r++;
    } else if (mine !== undefined && !right.items.has(mine)) out.push(live[l++]!);
    else if (mine !== undefined && theirs !== undefined && shared.length > 0 && shared[0] !== mine) l++;
    else {
      if (mine !== undefined && done.has(mine)) l++;
      if (theirs !== undefined) {
        take(theirs);
        r++;
      }
    }
  }
  return out;
}

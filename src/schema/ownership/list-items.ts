import { isJsonObject, ownValue, stringifyJson } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { type PathElement, valueElement } from './path-element.ts';
import type { ListPlan } from './type-plan.ts';

/** An item that cannot be told apart from others, so that nobody can own it. */
export class ItemError extends Error {}

/** What names an item of a list that is owned item by item (typed/helpers.go listItemToPathElement). */
export function itemElement(list: ListPlan, item: Json): PathElement {
  return list.relation === 'map' ? keyedElement(list, item) : setElement(item);
}

function keyedElement({ keys }: ListPlan, item: Json): PathElement {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  let text = '';
  for (const key of keys) {
    const own = ownValue(item, key.name);
    const value = own === undefined ? key.default : own;
    if (value !== undefined) text += (text === '' ? 'k:{' : ',') + key.prefix + stringifyJson(value);
  }
  if (text !== '') return `${text}}`;
  const names = keys.map(({ name }) => JSON.stringify(name)).join(' ');
  throw new ItemError(`associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`);
}

function setElement(item: Json): PathElement {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

/** Items by what names them, in order; those that share a name stand together. */
export function itemsByElement(list: ListPlan, items: readonly Json[]): Map<PathElement, Json[]> {
  const byElement = new Map<PathElement, Json[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const same = byElement.get(element);
    if (same === undefined) byElement.set(element, [item]);
    else same.push(item);
  }
  return byElement;
}

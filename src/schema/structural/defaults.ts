import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import { requestEntityTooLarge } from '../../api/errors.ts';
import { LIMITS } from '../../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../../util/step-budget.ts';
import { clone } from '../clone.ts';
import type { Structure } from './structure.ts';

/** As `fillDefaults`, of what a client has sent: little of it may ask for much. Throws 413. */
export function fillSentDefaults(structure: Structure, value: Json): void {
  const budget = new StepBudget(LIMITS.defaultedValues);
  try {
    fillDefaults(structure, value, budget);
  } catch (error) {
    throw error instanceof BudgetExceeded ? requestEntityTooLarge(`limit is ${error.limit} values that are defaults`) : error;
  }
}

/** Fills in what the value lacks and its schema has a default for, in place; a null that may not be counts as lacking (…/schema/defaulting). */
export function fillDefaults(structure: Structure, value: Json, budget?: StepBudget): void {
  if (typeof value !== 'object' || value === null || !structure.hasDefaults) return;
  if (Array.isArray(value)) fillItems(structure, value, budget);
  else if (isJsonObject(value)) {
    for (const name of structure.propertyNames) {
      const property = structure.property(name)!;
      if (property.default === undefined) continue;
      const isLacking = !Object.hasOwn(value, name) || value[name] === undefined || isWrongNull(value[name], property);
      if (isLacking) setKey(value, name, copyOf(property.default, budget));
    }
    for (const key of Object.keys(value)) {
      const child = structure.child(key);
      if (child === undefined) continue;
      if (isWrongNull(value[key], child) && child.default !== undefined) setKey(value, key, copyOf(child.default, budget));
      fillDefaults(child, value[key] ?? null, budget);
    }
  }
}

function fillItems({ items }: Structure, list: Json[], budget: StepBudget | undefined): void {
  if (items === undefined) return;
  for (let index = 0; index < list.length; index++) {
    if (isWrongNull(list[index], items) && items.default !== undefined) list[index] = copyOf(items.default, budget);
    fillDefaults(items, list[index]!, budget);
  }
}

function copyOf(value: Json, budget: StepBudget | undefined): Json {
  budget?.spend(sizeOf(value));
  return clone(value);
}

/** Values in a default, which is the same object for as long as its definition is there. */
const sizes = new WeakMap<object, number>();

function sizeOf(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  const size = Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner as Json), 1);
  sizes.set(value, size);
  return size;
}

const isWrongNull = (value: Json | undefined, structure: Structure): boolean => value === null && !structure.isNullable;

import { formatGo, goSyntax, goTypeOfValue } from '../../encoding/go-format.ts';
import { isJsonObject } from '../../encoding/json.ts';
import { LIMITS } from '../../util/limits.ts';
import type { Json } from '../../encoding/json-types.ts';
import { itemElement } from './list-items.ts';
import { type PathElement, fieldElement, showElement, showPath } from './path-element.ts';
import { type ListPlan, type MapPlan, type ScalarPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** What keeps an applied object from being one of its type; the message lists all of it (typed.ValidationErrors). */
export class TypeMismatch extends Error {
  constructor(errors: readonly string[]) {
    super(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
  }
}

/** Ends a validation that has found more than a client is told. */
class TooManyMismatches extends Error {}

/** Throws TypeMismatch where fields are unknown, values of another type, or items of a list repeated, unless that is allowed. */
export function validateApplied(plan: TypePlan, object: Json, { allowsDuplicates = false } = {}): void {
  const validator = new Validator(allowsDuplicates);
  try {
    validator.check(plan, object);
  } catch (error) {
    if (!(error instanceof TooManyMismatches)) throw error;
  }
  if (validator.errors.length > 0) throw new TypeMismatch(validator.errors);
}

class Validator {
  readonly errors: string[] = [];
  /** The way down; an item of a list that is owned as a whole is its index. */
  readonly path: (PathElement | number)[] = [];
  readonly #allowsDuplicates: boolean;
  #characters = 0;

  constructor(allowsDuplicates: boolean) {
    this.#allowsDuplicates = allowsDuplicates;
  }

  note(message: string): void {
    const path = showPath(this.path.map((element) => (typeof element === 'number' ? `i:${element}` : element)));
    const error = path === '' ? message : `${path}: ${message}`;
    this.errors.push(error);
    this.#characters += error.length;
    if (this.errors.length >= LIMITS.applyErrors || this.#characters >= LIMITS.applyErrorCharacters) throw new TooManyMismatches();
  }

  check(plan: TypePlan, value: Json): void {
    if (value === null) return;
    const resolved = resolvePlan(plan, value);
    if (resolved.kind === 'scalar') this.scalar(resolved, value);
    else if (resolved.kind === 'map') this.map(resolved, value);
    else this.list(resolved, value);
  }

  below(element: PathElement | number, plan: TypePlan, value: Json): void {
    this.path.push(element);
    this.check(plan, value);
    this.path.pop();
  }

  scalar({ expects }: ScalarPlan, value: Json): void {
    if (expects === 'numeric') {
      if (typeof value !== 'number' && typeof value !== 'bigint') this.note(`expected numeric (int or float), got ${goTypeOfValue(value)}`);
    } else if (expects === 'string') {
      if (typeof value !== 'string') this.note(`expected string, got &value.valueUnstructured{Value:${goSyntax(value, 'string')}}`);
    } else if (expects === 'boolean') {
      if (typeof value !== 'boolean') this.note(`expected boolean, got &{${formatGo(value)}}`);
    } else if (typeof value === 'object') this.note(`expected any scalar, got &{${formatGo(value)}}`);
  }

  /** The first unknown field ends the reading of its map. Upstream's maps are filled by name, and mostly read in that order. */
  map(plan: MapPlan, value: Json): void {
    if (!isJsonObject(value)) return this.note(`expected map, got &{${formatGo(value)}}`);
    for (const key of Object.keys(value).toSorted()) {
      const item = value[key];
      const field = plan.byName.get(key);
      const child = field?.plan ?? plan.values;
      if (child === undefined) return this.unknown(key);
      if (item !== undefined) this.below(field?.element ?? fieldElement(key), child, item);
    }
  }

  unknown(key: string): void {
    this.path.push(fieldElement(key));
    this.note('field not declared in schema');
    this.path.pop();
  }

  list(plan: ListPlan, value: Json): void {
    if (!Array.isArray(value)) return this.note(`expected list, got &{${formatGo(value)}}`);
    // Nothing is made for items that are not told apart: there may be a hundred thousand.
    if (plan.relation === 'atomic') {
      for (let index = 0; index < value.length; index++) this.below(index, plan.items, value[index]!);
      return;
    }
    const seen = new Set<PathElement>();
    for (let index = 0; index < value.length; index++) {
      const element = this.elementOf(plan, value[index]!, index);
      if (element === undefined) return;
      if (seen.has(element) && !this.#allowsDuplicates) this.note(`duplicate entries for key ${showElement(element)}`);
      seen.add(element);
      this.below(element, plan.items, value[index]!);
    }
  }

  elementOf(plan: ListPlan, item: Json, index: number): PathElement | undefined {
    try {
      return itemElement(plan, item);
    } catch (error) {
      this.note(`element ${index}: ${(error as Error).message}`);
      return undefined;
    }
  }
}

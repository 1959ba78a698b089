import { formatGo, goSyntax, goTypeOfValue } from '../../encoding/go-format.ts';
import { isJsonObject } from '../../encoding/json.ts';
import { LIMITS } from '../../util/limits.ts';
import type { Json } from '../../encoding/json-types.ts';
import { type Steps, inResumableStep } from '../../util/pending.ts';
import { itemElement } from './list-items.ts';
import { type PathElement, fieldElement, showElement, showPath } from './path-element.ts';
import { type ListPlan, type MapPlan, type ScalarPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** What keeps an applied object from being one of its type; the message lists all of it (typed.ValidationErrors). */
export class TypeMismatch extends Error {
  constructor(errors: readonly string[]) {
    super(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
  }
}

export interface ValidationOptions {
  /** Whether items of a list may be repeated. */
  allowsDuplicates?: boolean;
  /** Of a large object: others have their turn meanwhile. */
  steps?: Steps | undefined;
}

/** Throws TypeMismatch where fields are unknown, values of another type, or items of a list repeated. */
export function validateApplied(plan: TypePlan, object: Json, { allowsDuplicates = false, steps }: ValidationOptions = {}): void {
  inResumableStep(steps, (mayPause) => {
    // Mostly nothing is wrong; errors have an order, which takes longer.
    let walk = new Walk(allowsDuplicates, false, mayPause);
    return () => {
      try {
        walk.resume(plan, object);
      } catch (error) {
        if (!(error instanceof FoundMismatch)) throw error;
        walk = new Walk(allowsDuplicates, true, mayPause);
        walk.resume(plan, object);
      }
    };
  });
}

/** Ends a walk that only asks whether anything is wrong. */
class FoundMismatch extends Error {}

/** Ends a walk that has found more than a client is told. */
class TooManyMismatches extends Error {}

/** A map or a list of which a part has been checked. */
interface OpenValue {
  /** Of a map. */
  readonly keys?: readonly string[];
  /** What items of a list were named that are told apart. */
  readonly seen?: Set<PathElement>;
  next: number;
  /** The name of the next item, once it is known to be no repetition: what is in it may have been left in the middle. */
  element?: PathElement | undefined;
}

/** Values that are checked before it is asked whether others are to have their turn. */
const VALUES_AT_ONCE = 64;

/** One way through an object. It can be left where `mayPause` throws, and resumed. */
class Walk {
  readonly #errors: string[] = [];
  readonly #allowsDuplicates: boolean;
  readonly #explains: boolean;
  readonly #mayPause: () => void;
  /** The way down; an item of a list that is owned as a whole is its index. */
  readonly #path: (PathElement | number)[] = [];
  /** The maps and lists on the way down. */
  readonly #open: OpenValue[] = [];
  #depth = 0;
  #valueCount = 0;
  #characters = 0;

  /** `explains`: gathers what is wrong, in upstream's order; otherwise FoundMismatch is thrown. */
  constructor(allowsDuplicates: boolean, explains: boolean, mayPause: () => void) {
    this.#allowsDuplicates = allowsDuplicates;
    this.#explains = explains;
    this.#mayPause = mayPause;
  }

  /** Goes on where it was left, or begins. */
  resume(plan: TypePlan, object: Json): void {
    this.#depth = 0;
    this.#path.length = 0;
    try {
      this.#check(plan, object);
    } catch (error) {
      if (!(error instanceof TooManyMismatches)) throw error;
    }
    if (this.#errors.length > 0) throw new TypeMismatch(this.#errors);
  }

  #note(message: string): void {
    if (!this.#explains) throw new FoundMismatch();
    const path = showPath(this.#path.map((element) => (typeof element === 'number' ? `i:${element}` : element)));
    const error = path === '' ? message : `${path}: ${message}`;
    this.#errors.push(error);
    this.#characters += error.length;
    if (this.#errors.length >= LIMITS.applyErrors || this.#characters >= LIMITS.applyErrorCharacters) throw new TooManyMismatches();
  }

  #check(plan: TypePlan, value: Json): void {
    if (value === null) return;
    const resolved = resolvePlan(plan, value);
    if (resolved.kind === 'scalar') this.#scalar(resolved, value);
    else if (resolved.kind === 'map') this.#map(resolved, value);
    else this.#list(resolved, value);
  }

  #below(element: PathElement | number, plan: TypePlan, value: Json): void {
    this.#path.push(element);
    this.#check(plan, value);
    this.#path.pop();
  }

  #enter(open: () => OpenValue): OpenValue {
    return (this.#open[this.#depth++] ??= open());
  }

  #leave(): void {
    this.#open.length = --this.#depth;
  }

  #beforeValue(): void {
    if (this.#valueCount++ % VALUES_AT_ONCE === 0) this.#mayPause();
  }

  #scalar({ expects }: ScalarPlan, value: Json): void {
    if (expects === 'numeric') {
      if (typeof value !== 'number' && typeof value !== 'bigint') this.#note(`expected numeric (int or float), got ${goTypeOfValue(value)}`);
    } else if (expects === 'string') {
      if (typeof value !== 'string') this.#note(`expected string, got &value.valueUnstructured{Value:${goSyntax(value, 'string')}}`);
    } else if (expects === 'boolean') {
      if (typeof value !== 'boolean') this.#note(`expected boolean, got &{${formatGo(value)}}`);
    } else if (typeof value === 'object') this.#note(`expected any scalar, got &{${formatGo(value)}}`);
  }

  /** The first unknown field ends the reading of its map. Upstream's maps are filled by name, and mostly read in that order. */
  #map(plan: MapPlan, value: Json): void {
    if (!isJsonObject(value)) return this.#note(`expected map, got &{${formatGo(value)}}`);
    const open = this.#enter(() => ({ keys: this.#explains ? Object.keys(value).toSorted() : Object.keys(value), next: 0 }));
    const keys = open.keys!;
    for (; open.next < keys.length; open.next++) {
      this.#beforeValue();
      const key = keys[open.next]!;
      const item = value[key];
      const field = plan.byName.get(key);
      const child = field?.plan ?? plan.values;
      if (child === undefined) {
        this.#unknown(key);
        break;
      }
      if (item !== undefined) this.#below(field?.element ?? fieldElement(key), child, item);
    }
    this.#leave();
  }

  #unknown(key: string): void {
    this.#path.push(fieldElement(key));
    this.#note('field not declared in schema');
    this.#path.pop();
  }

  #list(plan: ListPlan, value: Json): void {
    if (!Array.isArray(value)) return this.#note(`expected list, got &{${formatGo(value)}}`);
    // Nothing is made for items that are not told apart: there may be a hundred thousand.
    if (plan.relation === 'atomic') this.#atomicItems(plan, value);
    else this.#namedItems(plan, value);
  }

  #atomicItems(plan: ListPlan, items: readonly Json[]): void {
    const open = this.#enter(() => ({ next: 0 }));
    for (; open.next < items.length; open.next++) {
      this.#beforeValue();
      this.#below(open.next, plan.items, items[open.next]!);
    }
    this.#leave();
  }

  #namedItems(plan: ListPlan, items: readonly Json[]): void {
    const open = this.#enter(() => ({ seen: new Set(), next: 0 }));
    for (; open.next < items.length; open.next++) {
      this.#beforeValue();
      const item = items[open.next]!;
      open.element ??= this.#newElement(plan, item, open);
      if (open.element === undefined) break;
      this.#below(open.element, plan.items, item);
      open.element = undefined;
    }
    this.#leave();
  }

  /** Undefined for an item that has no name: no others are looked at. */
  #newElement(plan: ListPlan, item: Json, { seen, next }: OpenValue): PathElement | undefined {
    let element: PathElement;
    try {
      element = itemElement(plan, item);
    } catch (error) {
      this.#note(`element ${next}: ${(error as Error).message}`);
      return undefined;
    }
    if (seen!.has(element) && !this.#allowsDuplicates) this.#note(`duplicate entries for key ${showElement(element)}`);
    seen!.add(element);
    return element;
  }
}

import { formatGo, goTypeOfValue } from '../../util/go-format.ts';
import { quote } from '../../util/field-errors.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Json } from '../../util/json-types.ts';
import { itemElement } from './list-items.ts';
import { fieldElement, showElement } from './path-element.ts';
import { type ListPlan, type MapPlan, type ScalarPlan, type TypePlan, resolvePlan } from './type-plan.ts';

/** What keeps an applied object from being one of its type; the message lists all of it (typed.ValidationErrors). */
export class TypeMismatch extends Error {
  constructor(errors: readonly string[]) {
    super(errors.length === 1 ? errors[0]! : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n'));
  }
}

const MAX_ERRORS = 100;

/** Throws TypeMismatch where fields are unknown, values of another type, or items of a list repeated. */
export function validateApplied(plan: TypePlan, object: Json): void {
  const errors: string[] = [];
  check(plan, object, '', errors);
  if (errors.length > 0) throw new TypeMismatch(errors.slice(0, MAX_ERRORS));
}

const note = (errors: string[], path: string, message: string): void => void errors.push(path === '' ? message : `${path}: ${message}`);

function check(plan: TypePlan, value: Json, path: string, errors: string[]): void {
  const resolved = resolvePlan(plan, value);
  if (value === null) return;
  if (resolved.kind === 'scalar') checkScalar(resolved, value, path, errors);
  else if (resolved.kind === 'map') checkMap(resolved, value, path, errors);
  else checkList(resolved, value, path, errors);
}

function checkScalar({ expects }: ScalarPlan, value: Json, path: string, errors: string[]): void {
  if (expects === 'numeric') {
    if (typeof value !== 'number' && typeof value !== 'bigint') note(errors, path, `expected numeric (int or float), got ${goTypeOfValue(value)}`);
  } else if (expects === 'string') {
    if (typeof value !== 'string') note(errors, path, `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
  } else if (expects === 'boolean') {
    if (typeof value !== 'boolean') note(errors, path, `expected boolean, got &{${formatGo(value)}}`);
  } else if (typeof value === 'object') note(errors, path, `expected any scalar, got &{${formatGo(value)}}`);
}

/** As Go's %#v prints what was read from YAML. */
function goSyntax(value: Json | undefined): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isJsonObject(value)) return `map[string]interface {}{${Object.keys(value).toSorted().map((key) => `${quote(key)}:${goSyntax(value[key])}`).join(', ')}}`;
  return value === null ? 'interface {}(nil)' : formatGo(value);
}

/** The first unknown field ends the reading of its map. */
function checkMap(plan: MapPlan, value: Json, path: string, errors: string[]): void {
  if (!isJsonObject(value)) return note(errors, path, `expected map, got &{${formatGo(value)}}`);
  for (const key of Object.keys(value)) {
    const item = value[key];
    const at = path + showElement(fieldElement(key));
    const child = plan.byName.get(key)?.plan ?? plan.values;
    if (child === undefined) return note(errors, at, 'field not declared in schema');
    if (item !== undefined) check(child, item, at, errors);
  }
}

function checkList(plan: ListPlan, value: Json, path: string, errors: string[]): void {
  if (!Array.isArray(value)) return note(errors, path, `expected list, got &{${formatGo(value)}}`);
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let at = `${path}[${index}]`;
    if (plan.relation !== 'atomic') {
      const element = elementOf(plan, item, index, path, errors);
      if (element === undefined) return;
      if (seen.has(element)) note(errors, path, `duplicate entries for key ${showElement(element)}`);
      seen.add(element);
      at = path + showElement(element);
    }
    check(plan.items, item, at, errors);
  }
}

function elementOf(plan: ListPlan, item: Json, index: number, path: string, errors: string[]): string | undefined {
  try {
    return itemElement(plan, item);
  } catch (error) {
    note(errors, path, `element ${index}: ${(error as Error).message}`);
    return undefined;
  }
}

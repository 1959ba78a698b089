import type { CustomResourceColumnDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import type { Column } from '../registry/definition.ts';
import { ageSince } from '../util/duration.ts';
import type { Json } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { StepBudget } from '../util/step-budget.ts';
import { parseTime } from '../util/time.ts';
import { compileJsonPath, printFound } from './json-path.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0, cell: (object) => object.metadata.name ?? '' };
const AGE: CustomResourceColumnDefinition = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The columns of `kubectl get`: the name, then what the definition tells, or else the age (…/customresource/tableconvertor). */
export function customColumns(definitions: readonly CustomResourceColumnDefinition[] | undefined): Column[] {
  return [NAME, ...(definitions && definitions.length > 0 ? definitions : [AGE]).map(column)];
}

function column({ name, type, format = '', description, priority = 0, jsonPath }: CustomResourceColumnDefinition): Column {
  // Compiled when the first row is made.
  let path: ReturnType<typeof compileJsonPath>;
  return {
    name,
    type: type as Column['type'],
    format,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    cell(object, now) {
      path ??= compileJsonPath(jsonPath) ?? (() => []);
      const found = path(object as unknown as Json, budgetOf(object, now));
      return type === 'string' ? (printFound(found) ?? null) : cellOf(type, found[0] ?? null, now);
    },
  };
}

/** All columns of a row share one: a definition may have thousands of columns, and each path go through the whole object. */
const budgets = new WeakMap<object, { now: Date; budget: StepBudget }>();

function budgetOf(object: object, now: Date): StepBudget {
  const known = budgets.get(object);
  // Every table has a time of its own; an object may be shown in many.
  if (known?.now === now) return known.budget;
  const budget = new StepBudget(LIMITS.jsonPathSteps);
  budgets.set(object, { now, budget });
  return budget;
}

function cellOf(type: string, value: Json, now: Date): ReturnType<Column['cell']> {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (type === 'integer') return isNumber ? asInt64(value) : null;
  if (type === 'number') return isNumber ? Number(value) : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return type === 'date' && typeof value === 'string' ? ageOf(value, now) : null;
}

/** As Go converts: a float64 that no int64 holds becomes the lowest. */
function asInt64(value: number | bigint): number | bigint {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value;
  return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : -(2n ** 63n);
}

function ageOf(text: string, now: Date): string {
  try {
    parseTime(text);
  } catch {
    return '<invalid>';
  }
  return ageSince(text, now);
}

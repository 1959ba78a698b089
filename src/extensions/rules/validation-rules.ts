import type { Structure } from '../../schema/structural/structure.ts';
import type { Comparison } from '../../schema/structural/correlation.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../encoding/json-types.ts';

/**
 * The x-kubernetes-validations of one version, compiled: the seam to the expression language. Evaluates an object, against what it was where that is known;
 * errors and cost limits as apiextensions' schema/cel tells them.
 */
export interface ValidationRules {
  /** `warn` is told what is wrong but was so before, as `comparison` finds. */
  validate(object: JsonObject, old: JsonObject | undefined, errors: FieldErrors, warn: (text: string) => void, comparison?: Comparison): void;
}

/** Undefined where the schema has no rules. Compiled at the first use of the version. */
export type CompileRules = (structure: Structure) => ValidationRules | undefined;

/** Whether a schema has rules anywhere. */
export function hasRules(structure: Structure): boolean {
  let has = known.get(structure);
  if (has === undefined) known.set(structure, (has = findRules(structure)));
  return has;
}

/** Remembered: whoever goes down a schema asks at every level. */
const known = new WeakMap<Structure, boolean>();

function findRules(structure: Structure): boolean {
  if ((structure.schema['x-kubernetes-validations'] ?? []).length > 0) return true;
  for (const name of structure.propertyNames) if (hasRules(structure.property(name)!)) return true;
  return [structure.additional, structure.items].some((inner) => inner !== undefined && hasRules(inner));
}

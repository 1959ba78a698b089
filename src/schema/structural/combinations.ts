import { type Findings, faultWithoutPath } from './fault.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ValuePlace } from './place.ts';

/** Validates the value at hand by another schema. */
export type ValidateBy = (schema: JsonSchema) => Findings;

/** anyOf, oneOf, allOf and not, in that order. Of alternatives that all failed, the faults of the one that passed most checks are told. */
export function combinationFaults({ anyOf, oneOf, allOf, not }: JsonSchema, place: ValuePlace, validate: ValidateBy, { faults }: Findings): void {
  if (anyOf && anyOf.length > 0) {
    const { valid, best: told } = tried(anyOf, validate, 1);
    if (valid === 0) faults.push(faultWithoutPath(`"${place}" must validate at least one schema (anyOf)`), ...told!.faults);
  }
  if (oneOf && oneOf.length > 0) {
    const { valid, best: told } = tried(oneOf, validate);
    if (valid !== 1)
      faults.push(
        faultWithoutPath(`"${place}" must validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`),
      );
    if (valid === 0) faults.push(...told!.faults);
  }
  if (allOf && allOf.length > 0) {
    const results = allOf.map(validate);
    for (const result of results) faults.push(...result.faults);
    if (!results.every(isValid))
      faults.push(faultWithoutPath(`"${place}" must validate all the schemas (allOf)${results.some(isValid) ? '' : '. None validated'}`));
  }
  if (not && isValid(validate(not))) faults.push(faultWithoutPath(`"${place}" must not validate the schema (not)`));
}

const isValid = ({ faults }: Findings): boolean => faults.length === 0;

/** How many are valid, of which `enough` are looked for, and the first of those that passed most checks. */
function tried(alternatives: readonly JsonSchema[], validate: ValidateBy, enough = Infinity): { valid: number; best: Findings | undefined } {
  let valid = 0;
  let best: Findings | undefined;
  for (const alternative of alternatives) {
    const result = validate(alternative);
    if (isValid(result)) valid++;
    if (valid >= enough) break;
    if (best === undefined || result.matches > best.matches) best = result;
  }
  return { valid, best };
}

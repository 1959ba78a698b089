import { type Findings, placeless } from './fault.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Place } from './place.ts';

/** Judges the value at hand by another schema. */
export type Judge = (schema: JsonSchema) => Findings;

/** anyOf, oneOf, allOf and not, in that order. Of alternatives that all failed, the faults of the one that passed most checks are told. */
export function combinationFaults({ anyOf, oneOf, allOf, not }: JsonSchema, place: Place, judge: Judge, { faults }: Findings): void {
  if (anyOf && anyOf.length > 0) {
    const failures = failuresUnlessOne(anyOf, judge);
    if (failures) faults.push(placeless(`"${place}" must validate at least one schema (anyOf)`), ...best(failures).faults);
  }
  if (oneOf && oneOf.length > 0) {
    const results = oneOf.map(judge);
    const valid = results.filter(isValid).length;
    if (valid !== 1)
      faults.push(
        placeless(`"${place}" must validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`),
      );
    if (valid === 0) faults.push(...best(results).faults);
  }
  if (allOf && allOf.length > 0) {
    const results = allOf.map(judge);
    for (const result of results) faults.push(...result.faults);
    if (!results.every(isValid)) faults.push(placeless(`"${place}" must validate all the schemas (allOf)${results.some(isValid) ? '' : '. None validated'}`));
  }
  if (not && isValid(judge(not))) faults.push(placeless(`"${place}" must not validate the schema (not)`));
}

const isValid = ({ faults }: Findings): boolean => faults.length === 0;

/** Undefined as soon as one is valid. */
function failuresUnlessOne(alternatives: readonly JsonSchema[], judge: Judge): Findings[] | undefined {
  const failures: Findings[] = [];
  for (const alternative of alternatives) {
    const result = judge(alternative);
    if (isValid(result)) return undefined;
    failures.push(result);
  }
  return failures;
}

/** The first of those that passed most checks. */
const best = (results: readonly Findings[]): Findings => results.reduce((most, result) => (result.matches > most.matches ? result : most));

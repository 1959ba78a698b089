import { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { isJsonObject, ownValue, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { LIMITS } from '../../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../../util/step-budget.ts';
import { counted, isInSlices, once } from '../../api/validation-run.ts';
import { combinationFaults } from './combinations.ts';
import { Comparison, type Old, oldField, oldItem } from './correlation.ts';
import { type Fault, type Findings, invalidFault, faultWithoutPath } from './fault.ts';
import { hasFormat } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';
import { CompiledSchema, canonicalText } from './compiled-schema.ts';
import { numberFaults } from './number-faults.ts';
import { ValuePlace } from './place.ts';

/** More than anybody is told of. */
const MAX_FAULTS = 1_000;

/**
 * Validates a value by a schema, in the order and with the words of kube-openapi/pkg/validation/validate and apiextensions' wording of its errors. What is
 * unchanged against `old` is let be, however wrong (KEP-4008, ratcheting), as `comparison` finds. `isOwnDefault`: of a definition's own defaults, whose schemas
 * upstream validates by as they were sent: with formats that it knows nothing of, and without the types of what is an integer or a string.
 */
export function validateValue(
  schema: JsonSchema,
  value: Json,
  errors: FieldErrors,
  old?: Old,
  { isOwnDefault = false, comparison = new Comparison() }: Partial<Pick<Findings, 'isOwnDefault' | 'comparison'>> = {},
): void {
  const firstMatch: Findings['firstMatch'] = (match) => counted(errors, match);
  const inParts: Findings['once'] = isInSlices(errors) ? (part, work) => once(errors, `by the schema ${part}`, work) : undefined;
  const faults = once(errors, 'by the schema', () => faultsOf(schema, value, old, { isOwnDefault, comparison, firstMatch, once: inParts }));
  const told = new Set<string>();
  for (const { path, tell } of faults) {
    tell(placeOf(errors, path));
    if (faults.length > 1) dropIfTold(told, errors);
  }
}

function faultsOf(schema: JsonSchema, value: Json, old: Old, how: Omit<Findings, 'faults' | 'matches' | 'budget'>): readonly Fault[] {
  const findings: Findings = { ...how, faults: [], matches: 0, budget: new StepBudget(LIMITS.schemaSteps) };
  try {
    checkChild(CompiledSchema.of(schema), value, new ValuePlace(), old, findings);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    findings.faults.push(faultWithoutPath(`takes more than ${LIMITS.schemaSteps} steps to validate by the schema: use fewer values, alternatives or patterns`));
  }
  return findings.faults;
}

/** What several schemas say of a value in the same words is said once. */
function dropIfTold(told: Set<string>, { list }: FieldErrors): void {
  const { field, body } = list.at(-1)!;
  const text = `${field}: ${body}`;
  if (told.has(text)) list.pop();
  told.add(text);
}

function placeOf(errors: FieldErrors, path: string | undefined): FieldErrors {
  const below = path?.startsWith('.') ? path.slice(1) : path;
  if (below) return errors.at(below);
  return errors.path === '' ? new FieldErrors('<nil>', errors.list) : errors;
}

/** Steps that are done before others may have their turn. */
const STEPS_AT_ONCE = 20_000;
/** Fewer items or fields are checked at once. */
const FEW_CHILDREN = 8;

/** Checks so many items or fields. Where others have their turn, what was found in those before is kept: see ValidationRun. */
function checkChildren(count: number, purpose: string, place: ValuePlace, findings: Findings, checkAt: (index: number, findings: Findings) => void): void {
  const { once: inPart, budget, faults } = findings;
  if (inPart === undefined || count <= FEW_CHILDREN) {
    for (let index = 0; index < count; index++) checkAt(index, findings);
    return;
  }
  for (let start = 0; start < count && faults.length < MAX_FAULTS;) {
    const spentBefore = budget.spent;
    const part = inPart(`${place} ${purpose} ${start}`, () => {
      const own: Findings = { ...findings, faults: [], matches: 0 };
      let end = start;
      try {
        while (end < count && budget.spent - spentBefore < STEPS_AT_ONCE) checkAt(end++, own);
      } catch (error) {
        // What was found until then is told.
        if (error instanceof BudgetExceeded) for (const fault of own.faults) faults.push(fault);
        throw error;
      }
      return { end, own, steps: budget.spent - spentBefore };
    });
    // What was done in an earlier run was not taken from this one's budget.
    if (budget.spent === spentBefore) budget.spend(part.steps);
    for (const fault of part.own.faults) faults.push(fault);
    findings.matches += part.own.matches;
    start = part.end;
  }
}

/** The value of a field, an item or the whole. */
function checkChild(compiled: CompiledSchema, value: Json, place: ValuePlace, old: Old, findings: Findings): void {
  const before = findings.faults.length;
  if (before >= MAX_FAULTS) return;
  check(compiled, value, place, old, findings);
  if (old !== undefined && findings.faults.length > before && findings.comparison.isUnchanged(value, old)) findings.faults.length = before;
}

/** The same without regard to whether the value itself changed: its parts may have been there before. */
function check(compiled: CompiledSchema, value: Json, place: ValuePlace, old: Old, findings: Findings): void {
  const { faults } = findings;
  const { schema } = compiled;
  const before = faults.length;
  findings.budget.spend();
  typeFaults(compiled, value, place, findings);
  if (faults.length === before) findings.matches++;
  if (value === null) return enumFaults(compiled, value, place, faults);
  if (compiled.hasAlternatives) combinationFaults(schema, place, (other) => validatedBy(other, value, place, old, findings), findings);
  if (typeof value === 'string') textFaults(compiled, value, place, findings);
  else if (typeof value === 'number' || typeof value === 'bigint') {
    if (compiled.hasBounds) numberFaults(schema, value, place, faults);
  } else if (Array.isArray(value)) listFaults(compiled, value, place, old, findings);
  if (schema.enum !== undefined) enumFaults(compiled, value, place, faults);
  if (isJsonObject(value)) objectFaults(compiled, value, place, old, findings);
  findings.matches += 3;
}

/** What an alternative finds is kept until it is known which of them is told. */
const STEPS_OF_ALTERNATIVE = 10;

function validatedBy(schema: JsonSchema, value: Json, place: ValuePlace, old: Old, { budget, firstMatch, isOwnDefault, comparison }: Findings): Findings {
  const findings: Findings = { isOwnDefault, comparison, faults: [], matches: 0, budget, firstMatch };
  budget.spend(STEPS_OF_ALTERNATIVE);
  check(CompiledSchema.of(schema), value, place, old, findings);
  return findings;
}

function jsonType(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  // Integers beyond are bigints: what is a number was read as floating point, and counts as an integer as far as that is exact (go-openapi/swag).
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Go's formats of numbers as they come out of JSON. */
const VALUE_FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

function typeFaults(compiled: CompiledSchema, value: Json, place: ValuePlace, { faults, isOwnDefault }: Findings): void {
  const { schema } = compiled;
  const types = isOwnDefault && schema['x-kubernetes-int-or-string'] ? [] : compiled.types;
  const format = formatOf(compiled, isOwnDefault);
  if (types.length === 0 && format === undefined) return;
  const type = jsonType(value);
  if (value !== null && (types.includes(type) || (type === 'integer' && types.includes('number')))) return;
  const path = String(place);
  const fault = (expected: string, found: string): void =>
    void faults.push({ path, tell: (errors) => errors.typeInvalid(found, `${path} in body must be of type ${expected}: ${quote(found)}`) });
  if (value === null) {
    if (types.length > 0 && !schema.nullable) fault(types.join(','), 'null');
    return;
  }
  const isTextOrList = type === 'string' || type === 'array';
  if (!isTextOrList && format !== undefined && VALUE_FORMATS[type] !== format) return fault(format, VALUE_FORMATS[type] ?? '');
  if (isTextOrList && format !== undefined && !types.includes('number') && !types.includes('integer')) return;
  fault(types.join(','), type);
}

const formatOf = (compiled: CompiledSchema, isOwnDefault: boolean): string | undefined =>
  isOwnDefault ? compiled.schema.format || undefined : compiled.format;

function textFaults(compiled: CompiledSchema, text: string, place: ValuePlace, findings: Findings): void {
  const { faults } = findings;
  const { maxLength, minLength } = compiled.schema;
  if (maxLength !== undefined && isLonger(text, maxLength)) faults.push({ path: String(place), tell: (errors) => errors.tooLong(maxLength) });
  else if (minLength !== undefined && !isLonger(text, minLength - 1))
    faults.push(invalidFault(place, text, (path) => `${path} in body should be at least ${minLength} chars long`));
  else if (compiled.schema.pattern) patternFaults(compiled, text, place, findings);
  const format = formatOf(compiled, findings.isOwnDefault);
  if (format === undefined || hasFormat(format, text)) return;
  const path = String(place);
  faults.push({ path, tell: (errors) => errors.typeInvalid(text, `${path} in body must be of type ${format}: ${quote(text)}`) });
}

/** Lengths are of code points; most texts are far from their bounds. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  return Array.from(text).length > limit;
}

/** Characters that a pattern reads in known states in the time of a step. */
const CHARACTERS_PER_STEP = 16;

function patternFaults(compiled: CompiledSchema, text: string, place: ValuePlace, { faults, budget, firstMatch }: Findings): void {
  const regexp = compiled.pattern;
  if (regexp === undefined) return;
  const { pattern } = compiled.schema;
  budget.spend(1 + Math.floor(text.length / CHARACTERS_PER_STEP));
  if ('error' in regexp) faults.push(invalidFault(place, text, (path) => `${path} in body should match '${pattern}, but pattern is invalid: ${regexp.error}'`));
  else if (!(regexp.isReady ? regexp.test(text, budget) : firstMatch(() => regexp.test(text, budget))))
    faults.push(invalidFault(place, text, (path) => `${path} in body should match '${pattern}'`));
}

function listFaults({ schema, items }: CompiledSchema, list: readonly Json[], place: ValuePlace, old: Old, findings: Findings): void {
  const { minItems, maxItems, uniqueItems } = schema;
  const { faults } = findings;
  if (items !== undefined) {
    checkChildren(list.length, 'items', place, findings, (index, into) => {
      place.enter(index);
      checkChild(items, list[index]!, place, oldItem(old, list[index]!), into);
      place.leave();
    });
  }
  if (minItems !== undefined && list.length < minItems)
    faults.push(invalidFault(place, list.length, (path) => `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) faults.push({ path: String(place), tell: (errors) => errors.tooMany(list.length, maxItems) });
  if (uniqueItems && new Set(list.map(canonicalText)).size < list.length)
    faults.push(invalidFault(place, '', (path) => `${path} in body shouldn't contain duplicates`));
}

/** Upstream takes numbers for whole ones where the choice is one (kube-openapi's validate.Enum converts to the choice's type). */
const truncated = (value: Json): Json => (typeof value === 'number' ? Math.trunc(value) : value);

/** Null is never one of them, even where it is listed. */
function enumFaults(compiled: CompiledSchema, value: Json, place: ValuePlace, faults: Fault[]): void {
  const { choices } = compiled;
  if (choices === undefined || (value !== null && (choices.has(canonicalText(value)) || choices.has(canonicalText(truncated(value)))))) return;
  const shown = (): string[] => compiled.schema.enum!.map((choice) => (typeof choice === 'string' ? choice : stringifyJson(choice)));
  faults.push({
    path: String(place),
    tell: (errors) => (typeof value === 'string' ? errors.notSupportedString(value, shown()) : errors.notSupported(value, shown())),
  });
}

function objectFaults(compiled: CompiledSchema, object: JsonObject, place: ValuePlace, old: Old, findings: Findings): void {
  const { minProperties, maxProperties, additionalProperties, required } = compiled.schema;
  const { faults } = findings;
  if (minProperties !== undefined || maxProperties !== undefined) countFaults(compiled.schema, Object.keys(object).length, place, faults);
  if (additionalProperties === false || compiled.additional !== undefined) otherKeyFaults(compiled, object, place, old, findings);
  const properties = compiled.propertiesOf(object);
  checkChildren(properties.length, 'properties', place, findings, (index, into) => {
    const { name, isInherited, schema } = properties[index]!;
    const value = isInherited ? ownValue(object, name) : object[name];
    if (value === undefined) return;
    place.enter(name);
    checkChild(schema, value, place, oldField(old, name), into);
    place.leave();
  });
  if (required === undefined) return;
  for (const key of required) if (ownValue(object, key) === undefined) faults.push({ path: `${place}.${key}`, tell: (errors) => errors.required() });
}

function countFaults({ minProperties, maxProperties }: JsonSchema, count: number, place: ValuePlace, faults: Fault[]): void {
  if (minProperties !== undefined && count < minProperties)
    faults.push(invalidFault(place, count, (path) => `${path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && count > maxProperties) faults.push({ path: String(place), tell: (errors) => errors.tooMany(count, maxProperties) });
}

/** Keys that are no properties. */
function otherKeyFaults({ schema, additional }: CompiledSchema, object: JsonObject, place: ValuePlace, old: Old, findings: Findings): void {
  const { properties = {} } = schema;
  const keys = Object.keys(object);
  checkChildren(keys.length, 'keys', place, findings, (index, into) => {
    const key = keys[index]!;
    if (Object.hasOwn(properties, key)) return;
    if (additional === undefined) into.faults.push(invalidFault(place, key, (path) => `${path}.${key} in body is a forbidden property`));
    else {
      place.enter(place.isTop ? `.${key}` : key);
      checkChild(additional, object[key]!, place, oldField(old, key), into);
      place.leave();
    }
  });
}

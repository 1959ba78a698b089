import { FieldErrors, quote } from '../../util/field-errors.ts';
import { equalJson } from '../../util/json-equal.ts';
import { isJsonObject, ownValue, stringifyJson } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';
import { compileRegexp } from '../../util/re2/regexp.ts';
import { combinationFaults } from './combinations.ts';
import { type Fault, type Findings, type Old, invalidFault } from './fault.ts';
import { effectiveFormat, hasFormat } from './formats.ts';
import type { JsonSchema } from './json-schema.ts';
import { oldItem } from './list-items.ts';
import { numberFaults } from './number-faults.ts';

/** More than anybody is told of. */
const MAX_FAULTS = 1_000;

/**
 * Judges a value by a schema, in the order and with the words of kube-openapi/pkg/validation/validate and apiextensions' wording of its errors. What is
 * unchanged against `old` is let be, however wrong (KEP-4008, ratcheting).
 */
export function validateValue(schema: JsonSchema, value: Json, errors: FieldErrors, old?: Old): void {
  const findings: Findings = { faults: [], matches: 0 };
  checkChild(schema, value, '', old, findings);
  for (const { path, tell } of findings.faults) tell(placeOf(errors, path));
}

function placeOf(errors: FieldErrors, path: string | undefined): FieldErrors {
  const below = path?.startsWith('.') ? path.slice(1) : path;
  if (below) return errors.at(below);
  return errors.path === '' ? new FieldErrors('<nil>', errors.list) : errors;
}

/** The value of a field, an item or the whole. */
function checkChild(schema: JsonSchema, value: Json, path: string, old: Old, findings: Findings): void {
  const before = findings.faults.length;
  if (before >= MAX_FAULTS) return;
  check(schema, value, path, old, findings);
  if (old !== undefined && findings.faults.length > before && equalJson(value, old.value)) findings.faults.length = before;
}

/** The same without regard to whether the value itself changed: its parts may have been there before. */
function check(schema: JsonSchema, value: Json, path: string, old: Old, findings: Findings): void {
  const { faults } = findings;
  const before = faults.length;
  typeFaults(schema, value, path, faults);
  if (faults.length === before) findings.matches++;
  if (value === null) return enumFaults(schema, value, path, faults);
  if (schema.anyOf || schema.oneOf || schema.allOf || schema.not) combinationFaults(schema, path, (other) => judged(other, value, path, old), findings);
  if (typeof value === 'string') textFaults(schema, value, path, faults);
  else if (typeof value === 'number' || typeof value === 'bigint') numberFaults(schema, value, path, faults);
  else if (Array.isArray(value)) listFaults(schema, value, path, old, findings);
  enumFaults(schema, value, path, faults);
  if (isJsonObject(value)) objectFaults(schema, value, path, old, findings);
  findings.matches += 3;
}

function judged(schema: JsonSchema, value: Json, path: string, old: Old): Findings {
  const findings: Findings = { faults: [], matches: 0 };
  check(schema, value, path, old, findings);
  return findings;
}

function jsonType(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const wantedTypes = (schema: JsonSchema): readonly string[] =>
  schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];

/** Go's formats of numbers as they come out of JSON. */
const VALUE_FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

function typeFaults(schema: JsonSchema, value: Json, path: string, faults: Fault[]): void {
  const wanted = wantedTypes(schema);
  const format = effectiveFormat(schema.type, schema.format);
  if (wanted.length === 0 && format === undefined) return;
  const type = jsonType(value);
  const fault = (expected: string, found: string): void =>
    void faults.push({ path, tell: (errors) => errors.typeInvalid(found, `${path} in body must be of type ${expected}: ${quote(found)}`) });
  if (value === null) {
    if (wanted.length > 0 && !schema.nullable) fault(wanted.join(','), 'null');
    return;
  }
  const isRight = wanted.includes(type) || (type === 'integer' && wanted.includes('number'));
  const isTextOrList = type === 'string' || type === 'array';
  if (!isTextOrList && format !== undefined && !isRight && VALUE_FORMATS[type] !== format) return fault(format, VALUE_FORMATS[type] ?? '');
  if (isTextOrList && format !== undefined && !wanted.includes('number') && !wanted.includes('integer')) return;
  if (!isRight) fault(wanted.join(','), type);
}

function textFaults({ maxLength, minLength, pattern, type, format }: JsonSchema, text: string, path: string, faults: Fault[]): void {
  if (maxLength !== undefined && isLonger(text, maxLength)) faults.push({ path, tell: (errors) => errors.tooLong(maxLength) });
  if (minLength !== undefined && !isLonger(text, minLength - 1))
    faults.push(invalidFault(path, text, `${path} in body should be at least ${minLength} chars long`));
  if (pattern) patternFaults(pattern, text, path, faults);
  const effective = effectiveFormat(type, format);
  if (effective !== undefined && !hasFormat(effective, text))
    faults.push({ path, tell: (errors) => errors.typeInvalid(text, `${path} in body must be of type ${effective}: ${quote(text)}`) });
}

/** Lengths are of code points; most texts are far from their bounds. */
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  return Array.from(text).length > limit;
}

function patternFaults(pattern: string, text: string, path: string, faults: Fault[]): void {
  const regexp = compileRegexp(pattern);
  if ('error' in regexp) faults.push(invalidFault(path, text, `${path} in body should match '${pattern}, but pattern is invalid: ${regexp.error}'`));
  else if (!regexp.test(text)) faults.push(invalidFault(path, text, `${path} in body should match '${pattern}'`));
}

function listFaults(schema: JsonSchema, list: readonly Json[], path: string, old: Old, findings: Findings): void {
  const { items, minItems, maxItems, uniqueItems } = schema;
  const { faults } = findings;
  if (isJsonObject(items))
    for (let index = 0; index < list.length; index++)
      checkChild(items as JsonSchema, list[index]!, `${path}[${index}]`, oldItem(schema, list[index]!, old), findings);
  if (minItems !== undefined && list.length < minItems) faults.push(invalidFault(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) faults.push({ path, tell: (errors) => errors.tooMany(list.length, maxItems) });
  if (uniqueItems && list.some((item, index) => list.slice(0, index).some((other) => equalJson(item, other))))
    faults.push(invalidFault(path, '', `${path} in body shouldn't contain duplicates`));
}

/** Null is never one of them, even where it is listed. */
function enumFaults({ enum: choices }: JsonSchema, value: Json, path: string, faults: Fault[]): void {
  if (!choices || choices.length === 0 || (value !== null && choices.some((choice) => equalJson(choice, value)))) return;
  const shown = choices.map((choice) => (typeof choice === 'string' ? choice : stringifyJson(choice)));
  faults.push({ path, tell: (errors) => errors.notSupported(value, shown) });
}

function objectFaults(schema: JsonSchema, object: JsonObject, path: string, old: Old, findings: Findings): void {
  const { minProperties, maxProperties, properties = {}, additionalProperties, required = [] } = schema;
  const { faults } = findings;
  const keys = Object.keys(object);
  if (minProperties !== undefined && keys.length < minProperties)
    faults.push(invalidFault(path, keys.length, `${path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && keys.length > maxProperties) faults.push({ path, tell: (errors) => errors.tooMany(keys.length, maxProperties) });
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) continue;
    if (additionalProperties === false) faults.push(invalidFault(path, key, `${path}.${key} in body is a forbidden property`));
    else if (isJsonObject(additionalProperties)) checkChild(additionalProperties as JsonSchema, object[key]!, `${path}.${key}`, oldField(old, key), findings);
  }
  for (const key of Object.keys(properties)) {
    const value = ownValue(object, key);
    if (value !== undefined) checkChild(properties[key]!, value, path === '' ? key : `${path}.${key}`, oldField(old, key), findings);
  }
  for (const key of required) if (ownValue(object, key) === undefined) faults.push({ path: `${path}.${key}`, tell: (errors) => errors.required() });
}

function oldField(old: Old, key: string): Old {
  const value = old !== undefined && isJsonObject(old.value) ? ownValue(old.value, key) : undefined;
  return value === undefined ? undefined : { value };
}

import type { FieldErrors } from '../util/field-errors.ts';
import { formatGo } from '../util/go-format.ts';
import { equalJson } from '../util/json-equal.ts';
import { isJsonObject, stringifyJson } from '../util/json.ts';
import type { Json, JsonObject } from '../util/json-types.ts';

/** What a schema of a custom resource demands of a value: JSON Schema as OpenAPI 3.0 has it, and Kubernetes' int-or-string. */
export interface ValueSchema {
  type?: string;
  nullable?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  enum?: readonly Json[];
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  multipleOf?: number;
  maxLength?: number;
  minLength?: number;
  maxItems?: number;
  minItems?: number;
  maxProperties?: number;
  minProperties?: number;
  required?: readonly string[];
  items?: unknown;
  properties?: Record<string, ValueSchema>;
  additionalProperties?: unknown;
  allOf?: readonly ValueSchema[];
  anyOf?: readonly ValueSchema[];
  oneOf?: readonly ValueSchema[];
  not?: ValueSchema;
}

/** One fault: where below the value (`spec.list[0]`, '' for itself), and how it is told. */
interface Fault {
  path: string;
  tell(errors: FieldErrors): void;
}

/**
 * Judges a value by a schema, with the errors that kube-openapi's validator and apiextensions' wording of them give. Patterns and formats are not
 * looked at: they need an engine for RE2.
 */
export function validateValue(schema: ValueSchema, value: Json, errors: FieldErrors): void {
  for (const { path, tell } of faultsOf(schema, value, '')) tell(path === '' ? errors : errors.at(path));
}

function faultsOf(schema: ValueSchema, value: Json, path: string): Fault[] {
  if (value === null) return [...typeFaults(schema, value, path), ...enumFaults(schema, value, path)];
  return [
    ...typeFaults(schema, value, path),
    ...combinationFaults(schema, value, path),
    ...(typeof value === 'string' ? lengthFaults(schema, value, path) : []),
    ...(typeof value === 'number' || typeof value === 'bigint' ? numberFaults(schema, value, path) : []),
    ...(Array.isArray(value) ? listFaults(schema, value, path) : []),
    ...enumFaults(schema, value, path),
    ...(isJsonObject(value) ? objectFaults(schema, value, path) : []),
  ];
}

const invalid = (path: string, value: Json, message: string): Fault => ({ path, tell: (errors) => errors.invalid(value, message) });
/** Faults that name no place of their own are told of the whole. */
const whole = (message: string): Fault => ({ path: '', tell: (errors) => errors.invalid('', message) });

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeFaults(schema: ValueSchema, value: Json, path: string): Fault[] {
  const wanted = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  const type = typeOf(value);
  const isRight =
    wanted.length === 0 || wanted.includes(type) || (type === 'integer' && wanted.includes('number')) || (value === null && schema.nullable === true);
  return isRight ? [] : [{ path, tell: (errors) => errors.typeInvalid(type, `${path} in body must be of type ${wanted.join(',')}: "${type}"`) }];
}

function enumFaults({ enum: choices }: ValueSchema, value: Json, path: string): Fault[] {
  if (!choices || choices.some((choice) => equalJson(choice, value))) return [];
  return [
    {
      path,
      tell: (errors) =>
        errors.notSupported(
          value,
          choices.map((choice) => (typeof choice === 'string' ? choice : stringifyJson(choice))),
        ),
    },
  ];
}

function lengthFaults({ maxLength, minLength }: ValueSchema, value: string, path: string): Fault[] {
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength) return [{ path, tell: (errors) => errors.tooLong(maxLength) }];
  return minLength !== undefined && length < minLength ? [invalid(path, value, `${path} in body should be at least ${minLength} chars long`)] : [];
}

function numberFaults(schema: ValueSchema, value: number | bigint, path: string): Fault[] {
  const faults: Fault[] = [];
  const { multipleOf, minimum, maximum } = schema;
  const number = Number(value);
  const fault = (must: string, bound: number): void => void faults.push(invalid(path, value, `${path} in body should be ${must} ${formatGo(bound)}`));
  if (multipleOf !== undefined && !Number.isInteger(number / multipleOf)) fault('a multiple of', multipleOf);
  if (minimum !== undefined && (schema.exclusiveMinimum ? number <= minimum : number < minimum))
    fault(schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to', minimum);
  if (maximum !== undefined && (schema.exclusiveMaximum ? number >= maximum : number > maximum))
    fault(schema.exclusiveMaximum ? 'less than' : 'less than or equal to', maximum);
  return faults;
}

function listFaults({ items, minItems, maxItems }: ValueSchema, list: readonly Json[], path: string): Fault[] {
  const faults = isJsonObject(items) ? list.flatMap((item, index) => faultsOf(items as ValueSchema, item, `${path}[${index}]`)) : [];
  if (minItems !== undefined && list.length < minItems) faults.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) faults.push({ path, tell: (errors) => errors.tooMany(list.length, maxItems) });
  return faults;
}

function objectFaults(schema: ValueSchema, object: JsonObject, path: string): Fault[] {
  const { minProperties, maxProperties, properties = {}, additionalProperties, required = [] } = schema;
  const faults: Fault[] = [];
  const keys = Object.keys(object);
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (minProperties !== undefined && keys.length < minProperties)
    faults.push(invalid(path, keys.length, `${path} in body should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && keys.length > maxProperties) faults.push({ path, tell: (errors) => errors.tooMany(keys.length, maxProperties) });
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) continue;
    if (additionalProperties === false) faults.push(invalid(path, key, `${path}.${key} in body is a forbidden property`));
    else if (isJsonObject(additionalProperties)) faults.push(...faultsOf(additionalProperties as ValueSchema, object[key]!, below(key)));
  }
  for (const [key, property] of Object.entries(properties)) if (Object.hasOwn(object, key)) faults.push(...faultsOf(property, object[key]!, below(key)));
  for (const key of required) if (!Object.hasOwn(object, key)) faults.push({ path: below(key), tell: (errors) => errors.required() });
  return faults;
}

function combinationFaults({ anyOf = [], oneOf = [], allOf = [], not }: ValueSchema, value: Json, path: string): Fault[] {
  const faults: Fault[] = [];
  const any = anyOf.map((schema) => faultsOf(schema, value, path));
  if (any.length > 0 && any.every(isFaulty)) faults.push(whole(`"${path}" must validate at least one schema (anyOf)`), ...any[0]!);
  const one = oneOf.map((schema) => faultsOf(schema, value, path));
  const valid = one.filter((found) => !isFaulty(found)).length;
  if (one.length > 0 && valid !== 1) {
    faults.push(whole(`"${path}" must validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`));
    if (valid === 0) faults.push(...one[0]!);
  }
  const all = allOf.map((schema) => faultsOf(schema, value, path));
  faults.push(...all.flat());
  if (all.some(isFaulty)) faults.push(whole(`"${path}" must validate all the schemas (allOf)${all.every(isFaulty) ? '. None validated' : ''}`));
  if (not && !isFaulty(faultsOf(not, value, path))) faults.push(whole(`"${path}" must not validate the schema (not)`));
  return faults;
}

const isFaulty = (faults: readonly Fault[]): boolean => faults.length > 0;

import { FieldErrors, type FieldError } from '../../api/field-errors.ts';
import { goRegexpError } from '../../re2/go-regexp.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { CHUNK_ITEMS, checkEach, gatheredApart } from '../../api/validation-run.ts';
import type { JSONSchemaProps } from '../facts/types/apiextensions-v1.ts';
import { hasField, schemaIn } from './schema-walk.ts';

/**
 * Structural schemas: every field has its type outside of `allOf`, `anyOf`, `oneOf` and `not`, which only narrow values (KEP 20190425-structural-openapi,
 * apiextensions-apiserver/pkg/apiserver/schema).
 */
type Level = 'root' | 'item' | 'field';
type Schema = JSONSchemaProps;

const EMPTY_TYPE: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** What a nested schema may not say, and why. */
const FORBIDDEN_IN_NESTED: readonly (readonly [field: keyof Schema, must: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

const UNSUPPORTED: readonly (readonly [field: keyof Schema, named: string])[] = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
];

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** Why a schema can not be taken for a structural one at all; undefined where it can. */
export function structuralProblem(schema: Schema | undefined): string | undefined {
  if (!schema) return undefined;
  const unsupported = UNSUPPORTED.find(([field]) => hasField(schema, field) && schema[field] !== '');
  if (unsupported) return `OpenAPIV3Schema '${unsupported[1]}' is not supported`;
  for (const inner of [schema.not, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    const problem = structuralProblem(inner);
    if (problem !== undefined) return problem;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (Array.isArray(schema.items) && schema.items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const inner of [schemaIn(schema.items), ...Object.values(schema.properties ?? {}), schemaIn(schema.additionalProperties)]) {
    const problem = structuralProblem(inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export const isStructural = (schema: Schema | undefined): boolean =>
  structuralProblem(schema) === undefined && (schema === undefined || structuralErrors(schema, new FieldErrors()).length === 0);

/** What breaks the rules, in the order of the texts. `errors` gives the place; nothing is added to it. */
export function structuralErrors(schema: Schema, errors: FieldErrors): FieldError[] {
  const found = gatheredApart(errors, new FieldErrors(errors.path));
  validateInvariants(schema, 'root', found);
  validateCompleteness(schema, schema, found, found);
  return found.list.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0));
}

const textOf = ({ field, body }: FieldError): string => `${field}: ${body}`;

function validateInvariants(schema: Schema, level: Level, errors: FieldErrors): void {
  const { type = '', properties = {} } = schema;
  const items = schemaIn(schema.items);
  if (type === 'array' && !items) errors.at('items').required('must be specified');
  if (items) validateInvariants(items, 'item', errors.at('items'));
  const fields = Object.entries(properties);
  if (fields.length <= CHUNK_ITEMS) for (const [name, property] of fields) validateInvariants(property, 'field', errors.at('properties').key(name));
  else checkEach(errors, 'invariants', fields, ([name, property]) => validateInvariants(property, 'field', errors.at('properties').key(name)));
  validateAdditionalProperties(schema, level, errors.at('additionalProperties'));
  validateExtensions(schema, errors);
  validateNarrowing(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), errors);
  validateType(schema, level, errors.at('type'));
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const field of ['kind', 'apiVersion']) {
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (isResource && property && property.type !== 'string')
      errors
        .at('properties')
        .key(field)
        .at('type')
        .invalid(property.type ?? '', 'must be string');
  }
  if (Object.hasOwn(properties, 'metadata')) validateMetadata(properties['metadata']!, isResource, level, errors.at('properties').key('metadata'));
  const isEmptyResource = schema['x-kubernetes-embedded-resource'] && !schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(properties).length === 0;
  if (isEmptyResource)
    errors.at('properties').required('must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields');
}

const isIntOrString = (anyOf: readonly Schema[] | undefined): boolean => equalJson(anyOf, INT_OR_STRING);

function validateAdditionalProperties(schema: Schema, level: Level, errors: FieldErrors): void {
  if (schema.additionalProperties === undefined) return;
  if (level === 'root') errors.forbidden('must not be used at the root');
  const values = schemaIn(schema.additionalProperties);
  if (values) validateInvariants(values, 'field', errors);
  if (schema['x-kubernetes-embedded-resource']) errors.forbidden('must not be used if x-kubernetes-embedded-resource is set');
}

function validateExtensions(schema: Schema, errors: FieldErrors): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const field of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[field]) errors.at(field).invalid(schema[field], 'must be false if x-kubernetes-int-or-string is true');
  }
}

function validateType(schema: Schema, level: Level, errors: FieldErrors): void {
  const { type = '' } = schema;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const must = 'must be object if x-kubernetes-embedded-resource is true';
    if (type === '') errors.required(must);
    else errors.invalid(type, must);
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) errors.required(EMPTY_TYPE[level]);
  if (level === 'root' && type !== '' && type !== 'object') errors.invalid(type, 'must be object at the root');
}

/** The server knows what metadata is; a schema may only narrow names. */
function validateMetadata(
  { type = '', properties = {}, default: _validatedElsewhere, ...others }: Schema,
  isResource: boolean,
  level: Level,
  errors: FieldErrors,
): void {
  if (isResource && type !== 'object') errors.at('type').invalid(type, 'must be object');
  const namesOnly = Object.keys(properties).every((field) => field === 'name' || field === 'generateName');
  const isMore = !namesOnly || Object.keys(others).length > 0;
  if (level === 'root' && isMore) errors.forbidden('must not specify anything other than name and generateName, but metadata is implicitly specified');
}

/** What narrows values. The two patterns of int-or-string may name types. */
function validateNarrowing(schema: Schema, skipsAnyOf: boolean, skipsFirstAllOf: boolean, errors: FieldErrors): void {
  if (!skipsAnyOf) for (const [index, inner] of (schema.anyOf ?? []).entries()) validateNested(inner, false, errors.at('anyOf').index(index));
  for (const [index, inner] of (schema.allOf ?? []).entries()) validateNested(inner, skipsFirstAllOf && index === 0, errors.at('allOf').index(index));
  for (const [index, inner] of (schema.oneOf ?? []).entries()) validateNested(inner, false, errors.at('oneOf').index(index));
  if (schema.not) validateNested(schema.not, false, errors.at('not'));
  const problem = schema.pattern ? goRegexpError(schema.pattern) : undefined;
  if (problem !== undefined) errors.at('pattern').invalid(schema.pattern, `must be a valid regular expression, but isn't: ${problem}`);
}

function validateNested(schema: Schema, skipsAnyOf: boolean, errors: FieldErrors): void {
  validateNarrowing(schema, skipsAnyOf, false, errors);
  const items = schemaIn(schema.items);
  if (items) validateNested(items, false, errors.at('items'));
  for (const [name, property] of Object.entries(schema.properties ?? {})) validateNested(property, false, errors.at('properties').key(name));
  for (const [field, must] of FORBIDDEN_IN_NESTED) if (isSaid(schema, field)) errors.at(field).forbidden(must);
  if (schema.properties && Object.hasOwn(schema.properties, 'metadata'))
    errors.at('properties').key('metadata').forbidden('must not be specified in a nested context');
}

/** Flags that are false say nothing; a default of false does. */
const isSaid = (schema: Schema, field: keyof Schema): boolean =>
  schema[field] !== undefined && schema[field] !== null && (schema[field] !== false || field === 'default');

/** What is narrowed must be specified. `place` is where it would have to be, `named` where it is narrowed. */
function validateCompleteness(narrowing: Schema, schema: Schema | undefined, place: FieldErrors, named: FieldErrors): void {
  if (narrowing.not) requireSpecified(narrowing.not, schema, place, named.at('not'));
  for (const field of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, inner] of (narrowing[field] ?? []).entries()) requireSpecified(inner, schema, place, named.at(field).index(index));
  }
}

function requireSpecified(narrowing: Schema, schema: Schema | undefined, place: FieldErrors, named: FieldErrors): void {
  if (!schema) return place.required(`because it is defined in ${named.path}`);
  validateCompleteness(narrowing, schema, place, named);
  const items = schemaIn(narrowing.items);
  if (items) requireSpecified(items, schemaIn(schema.items), place.at('items'), named.at('items'));
  for (const [name, property] of Object.entries(narrowing.properties ?? {})) {
    const counterpart = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    requireSpecified(property, counterpart, place.at('properties').key(name), named.at('properties').key(name));
  }
}

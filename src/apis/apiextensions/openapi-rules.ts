import type { FieldErrors } from '../../api/field-errors.ts';
import { CHUNK_ITEMS, checkEach } from '../../api/validation-run.ts';
import type { JSONSchemaProps, ValidationRule } from '../facts/types/apiextensions-v1.ts';
import { findField } from './field-path.ts';
import { printedItems } from './internal-spec.ts';
import { hasField, schemaIn, schemasIn } from './schema-walk.ts';
import { structuralProblem } from './structural.ts';
import { repeats } from '../validation/repeats.ts';

/** What a schema may say in the subset of OpenAPI that Kubernetes takes (apiextensions-apiserver/pkg/apis/apiextensions/validation). */
type Schema = JSONSchemaProps;

export interface SchemaStrictness {
  requireKnownTypes: boolean;
  /** Items of sets are atomic. */
  requireAtomicSets: boolean;
  /** Keys of map lists are always there, and items are never null. */
  requireSoundKeys: boolean;
  /** The schemas whose `dependencies` were sent empty: alone of the maps that are not taken, these are refused even so. */
  emptyDependencies?: ReadonlySet<object>;
}

/** What holds on the way down to a schema. */
interface Place {
  strictness: SchemaStrictness;
  isRoot: boolean;
  /** Inside of a resource's kind, apiVersion or metadata. */
  isInMetadata: boolean;
  /** Why no default may stand here. */
  forbidsDefaults?: string;
}

export const SCHEMA_TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const METADATA_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];

export function validateOpenApi(schema: Schema, strictness: SchemaStrictness, errors: FieldErrors): void {
  validateSchema(schema, { strictness, isRoot: true, isInMetadata: false }, errors);
}

function validateSchema(schema: Schema, place: Place, errors: FieldErrors): void {
  validateDialect(schema, place, errors);
  if (schema.uniqueItems) errors.at('uniqueItems').forbidden('uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  validateInner(schema, { ...place, isRoot: false }, place.isRoot, errors);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) errors.at('x-kubernetes-preserve-unknown-fields').invalid(false, 'must be true or undefined');
  validateMapType(schema, errors);
  validateListType(schema, place.strictness, errors);
  if (place.strictness.requireSoundKeys) validateKeysAndItems(schema, errors);
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries())
    validateRule(rule, schema, errors.at('x-kubernetes-validations').index(index));
}

/** The keywords that are not taken, or not here. */
function validateDialect(schema: Schema, { strictness, isInMetadata, forbidsDefaults }: Place, errors: FieldErrors): void {
  const { type = '' } = schema;
  if (strictness.requireKnownTypes && type !== '' && !SCHEMA_TYPES.includes(type)) errors.at('type').notSupportedString(type, SCHEMA_TYPES);
  if (isDefaulted(schema) && forbidsDefaults !== undefined) errors.at('default').forbidden(`must not be set ${forbidsDefaults}`);
  for (const field of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const) {
    if (hasField(schema, field) || (field === 'dependencies' && strictness.emptyDependencies?.has(schema)))
      errors.at(field).forbidden(`${field} is not supported`);
  }
  if (type === 'null') errors.at('type').forbidden('type cannot be set to null, use nullable as an alternative');
  if (schemasIn(schema.items).length > 0) errors.at('items').forbidden('items must be a schema object and not an array');
  if (isInMetadata && schema['x-kubernetes-embedded-resource'])
    errors.at('x-kubernetes-embedded-resource').forbidden('must not be used inside of resource meta');
}

export const isDefaulted = (schema: Schema): boolean => schema.default !== undefined && schema.default !== null;

function validateInner(schema: Schema, place: Place, isRoot: boolean, errors: FieldErrors): void {
  validateAdditionalProperties(schema, place, errors.at('additionalProperties'));
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const properties = Object.entries(schema.properties ?? {});
  const placeOf = (name: string): Place =>
    isResource && METADATA_FIELDS.has(name) ? { ...place, isInMetadata: true, ...(isRoot && { forbidsDefaults: `in top-level ${name}` }) } : place;
  // Schemas may be a thousand levels deep: the stack has no room for more calls a level.
  if (properties.length <= CHUNK_ITEMS) for (const [name, property] of properties) validateSchema(property, placeOf(name), errors.at('properties').key(name));
  else checkEach(errors, 'properties', properties, ([name, property]) => validateSchema(property, placeOf(name), errors.at('properties').key(name)));
  if (schema.not) validateSchema(schema.not, place, errors.at('not'));
  for (const field of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, inner] of (schema[field] ?? []).entries()) validateSchema(inner, place, errors.at(field).index(index));
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {})) validateSchema(definition, place, errors.at('definitions').key(name));
  const items = schemaIn(schema.items);
  if (items) validateSchema(items, place, errors.at('items'));
  for (const [index, item] of schemasIn(schema.items).entries()) validateSchema(item, place, errors.at('items').index(index));
  for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
    const inner = schemaIn(dependency);
    if (inner) validateSchema(inner, place, errors.at('dependencies').key(name));
  }
}

/** Properties are for structs, additionalProperties for maps: never both. */
function validateAdditionalProperties(schema: Schema, place: Place, errors: FieldErrors): void {
  const value = schema.additionalProperties;
  if (value === undefined) return;
  if (Object.keys(schema.properties ?? {}).length > 0 && value !== true) errors.forbidden('additionalProperties and properties are mutual exclusive');
  const inner = schemaIn(value);
  // What is pruned depends on the value there, so that a default's pruning could not be validated.
  if (inner)
    validateSchema(inner, place.isInMetadata ? { ...place, forbidsDefaults: 'inside additionalProperties applying to object metadata' } : place, errors);
}

function validateMapType({ type = '', 'x-kubernetes-map-type': mapType }: Schema, errors: FieldErrors): void {
  if (mapType === undefined) return;
  requireType(type, 'object', 'must be object if x-kubernetes-map-type is specified', errors.at('type'));
  if (!MAP_TYPES.includes(mapType)) errors.at('x-kubernetes-map-type').notSupportedString(mapType, MAP_TYPES);
}

function requireType(type: string, wanted: string, must: string, errors: FieldErrors): void {
  if (type === '') errors.required(must);
  else if (type !== wanted) errors.invalid(type, must);
}

function validateListType(schema: Schema, { requireAtomicSets }: SchemaStrictness, errors: FieldErrors): void {
  const { type = '', 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const at = errors.at('x-kubernetes-list-type');
  if (listType !== undefined && type !== 'array') requireType(type, 'array', 'must be array if x-kubernetes-list-type is specified', errors.at('type'));
  else if (requireAtomicSets && listType === 'set') validateSetItems(schemaIn(schema.items), errors.at('items'));
  if (listType !== undefined && !LIST_TYPES.includes(listType)) at.notSupportedString(listType, LIST_TYPES);
  if (keys.length > 0 && listType === undefined) at.required('must be map if x-kubernetes-list-map-keys is non-empty');
  else if (keys.length > 0 && listType !== 'map') at.invalid(listType, 'must be map if x-kubernetes-list-map-keys is non-empty');
  if (listType === 'map') validateMapList(schema, keys, errors);
}

const NOT_ATOMIC = 'must be atomic as item of a list with x-kubernetes-list-type=set';

export function isNonAtomicSet(schema: Schema): boolean {
  const items = schema['x-kubernetes-list-type'] === 'set' ? schemaIn(schema.items) : undefined;
  if (items?.type === 'array') return (items['x-kubernetes-list-type'] ?? 'atomic') !== 'atomic';
  return items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
}

function validateSetItems(items: Schema | undefined, errors: FieldErrors): void {
  if (!items || !isNonAtomicSet({ 'x-kubernetes-list-type': 'set', items: items as never })) return;
  // Upstream shows the list type in both cases.
  errors.at(items.type === 'array' ? 'x-kubernetes-list-type' : 'x-kubernetes-map-type').invalidTyped(items['x-kubernetes-list-type'], NOT_ATOMIC);
}

function validateMapList(schema: Schema, keys: readonly string[], errors: FieldErrors): void {
  if (keys.length === 0) errors.at('x-kubernetes-list-map-keys').required('must not be empty if x-kubernetes-list-type is map');
  const items = schemaIn(schema.items);
  if (schema.items === undefined) return errors.at('items').required('must have a schema if x-kubernetes-list-type is map');
  if (!items) return errors.at('items').invalid(printedItems(schema.items), 'must only have a single schema if x-kubernetes-list-type is map');
  if (items.type !== 'object') return errors.at('items', 'type').invalid(items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map");
  const isRepeated = repeats<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    const isScalar = property?.type !== 'array' && property?.type !== 'object';
    if (!property) errors.at('x-kubernetes-list-map-keys').invalid(keys, 'entries must all be names of item properties');
    else if (!isScalar)
      errors.at('items', 'properties').key(key).at('type').invalid(items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map");
    if (isRepeated(key)) errors.at('x-kubernetes-list-map-keys').invalid(keys, 'must not contain duplicate entries');
  }
}

const propertyOf = ({ properties = {} }: Schema, name: string): Schema | undefined => (Object.hasOwn(properties, name) ? properties[name] : undefined);

/** Of sets and map lists: nothing by which items are told apart may be missing or null. */
export function validateKeysAndItems(schema: Schema, errors: FieldErrors): void {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const items = schemaIn(schema.items);
  if (!items || (listType !== 'set' && listType !== 'map')) return;
  if (items.nullable) errors.at('items', 'nullable').forbidden(`cannot be nullable when x-kubernetes-list-type is ${listType}`);
  if (listType === 'set') return;
  const required = new Set(items.required);
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (!property) continue;
    const at = errors.at('items', 'properties').key(key);
    const isThere = required.has(key) || isDefaulted(property);
    if (!isThere) at.at('default').required('this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property');
    if (property.nullable) at.at('nullable').forbidden('this property is in x-kubernetes-list-map-keys, so it cannot be nullable');
  }
}

const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text);

/** A rule in CEL, but for the expressions themselves. */
function validateRule({ rule, message = '', messageExpression = '', reason, fieldPath = '' }: ValidationRule, schema: Schema, errors: FieldErrors): void {
  if (rule.trim() === '') errors.at('rule').required('rule is not specified');
  else if (message !== '' && message.trim() === '') errors.at('message').invalid(message, 'must be non-empty if specified');
  else if (hasLineBreaks(message.trim())) errors.at('message').invalid(message, 'must not contain line breaks');
  else if (hasLineBreaks(rule.trim()) && message === '') errors.at('message').required('message must be specified if rule contains line breaks');
  if (messageExpression !== '' && messageExpression.trim() === '') errors.at('messageExpression').required('messageExpression must be non-empty if specified');
  if (reason !== undefined && !REASONS.includes(reason)) errors.at('reason').notSupported(reason, REASONS);
  if (fieldPath !== '' && fieldPath.trim() === '') errors.at('fieldPath').invalid(fieldPath, 'must be non-empty if specified');
  if (hasLineBreaks(fieldPath)) errors.at('fieldPath').invalid(fieldPath, 'must not contain line breaks');
  const isLost = fieldPath !== '' && structuralProblem(schema) === undefined && 'error' in findField(fieldPath, schema, true);
  if (isLost) errors.at('fieldPath').invalid(fieldPath, 'must be a valid path');
}

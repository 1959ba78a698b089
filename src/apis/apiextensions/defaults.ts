import { embeddedMetadata } from '../../registry/metadata.ts';
import { coerceEmbedded, validateEmbedded } from '../../schema/structural/embedded-resources.ts';
import type { JsonSchema } from '../../schema/structural/json-schema.ts';
import { Structure } from '../../schema/structural/structure.ts';
import { validateValue } from '../../schema/structural/value-faults.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { CHUNK_ITEMS, checkEach } from '../../api/validation-run.ts';
import { schemaOf } from '../facts/schemas.ts';
import type { JSONSchemaProps } from '../facts/types/apiextensions-v1.ts';
import { isDefaulted } from './openapi-rules.ts';
import { schemaIn, someSchema } from './schema-walk.ts';

/** Defaults in a structural schema: what pruning would leave of them is what they are, and they are valid (apiextensions' schema/defaulting). */
const METADATA_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);

const EMBEDDED = { 'x-kubernetes-embedded-resource': true };

const isEmbedded = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-embedded-resource'] === true;

/** Whether a default keeps the rules of its schema, which is a resource's where `isResource`. Answers false where no more rules can be paid for. */
export type DefaultRules = (schema: JSONSchemaProps, isResource: boolean, errors: FieldErrors) => boolean;

interface Demands {
  requirePruned: boolean;
  rules: DefaultRules | undefined;
}

export function validateDefaults(schema: JSONSchemaProps, demands: Demands, errors: FieldErrors): void {
  validateBelow(schema, demands, { isResource: true, resource: resourceOf(schema) }, errors);
}

interface Place {
  isResource: boolean;
  /** The resource in whose schema this is. */
  resource: Structure;
  /** Inside of a resource's type or metadata, whose fields the server itself knows: the object of which a value here is all that is told. */
  surround?: (value: Json) => JsonObject;
}

const resourceOf = (schema: JSONSchemaProps): Structure => new Structure({ ...schema, ...EMBEDDED } as JsonSchema);

/** Answers false where no more can be paid for: nothing else is looked at then. */
function validateBelow(schema: JSONSchemaProps, demands: Demands, place: Place, errors: FieldErrors): boolean {
  if (isDefaulted(schema) && !validateDefault(schema, demands, place, errors.at('default'))) return false;
  const items = schemaIn(schema.items);
  if (items && !validateBelow(items, demands, placeOf(items, place, place.surround && ((value) => [value])), errors.at('items'))) return false;
  const validateProperty = ([name, property]: [string, JSONSchemaProps]): boolean => {
    const isInMetadata = place.surround !== undefined || (place.isResource && METADATA_FIELDS.has(name));
    const inner = placeOf(property, place, isInMetadata ? (value) => ({ [name]: value }) : undefined);
    return validateBelow(property, demands, inner, errors.at('properties').key(name));
  };
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length <= CHUNK_ITEMS) return properties.every(validateProperty);
  const check = (property: [string, JSONSchemaProps], _index: number, state: { isPaid: boolean }): void => {
    if (state.isPaid) state.isPaid = validateProperty(property);
  };
  return checkEach(errors, 'defaults', properties, check, () => ({ isPaid: true })).isPaid;
}

/** `wrap`: how a value stands in what is above it, where that matters. */
function placeOf(schema: JSONSchemaProps, above: Place, wrap: ((value: Json) => Json) | undefined): Place {
  if (isEmbedded(schema)) return { isResource: true, resource: resourceOf(schema) };
  const { resource, surround = withType } = above;
  return { isResource: false, resource, ...(wrap && { surround: (value) => surround(wrap(value)) }) };
}

const withType = (value: Json): JsonObject => ({ kind: 'Validation', apiVersion: 'validation/v1', ...(value as JsonObject) });

function validateDefault(schema: JSONSchemaProps, { requirePruned, rules }: Demands, place: Place, errors: FieldErrors): boolean {
  const value = schema.default!;
  if (requirePruned && !place.surround && hasUnknownFields(value, schema, place.isResource)) errors.invalid(value, 'must not have unknown fields');
  const before = errors.list.length;
  if (place.surround) validateInMetadata(place.resource, value, place.surround(value), errors);
  else validateResources(place.isResource ? place.resource : new Structure(schema as JsonSchema), value, errors);
  if (errors.list.length === before) validateValue(schema, value, errors, undefined, { isOwnDefault: true });
  return errors.list.length > before || rules === undefined || rules(schema, place.isResource, errors);
}

function validateInMetadata(resource: Structure, value: Json, surrounding: JsonObject, errors: FieldErrors): void {
  const inner = new FieldErrors();
  validateResources(resource, surrounding, inner);
  if (!inner.isEmpty) errors.invalid(value, `must result in valid metadata: ${summarize(inner.list)}`);
}

/** That embedded resources are some, in the forms of their types. */
function validateResources(structure: Structure, value: Json, errors: FieldErrors): void {
  const coerced = coerceEmbedded(structure, value, schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), errors);
  if (coerced !== undefined) validateEmbedded(structure, coerced, embeddedMetadata, errors);
}

export const hasUnprunedDefaults = (schema: JSONSchemaProps | undefined): boolean =>
  someSchema(schema, (inner) => isDefaulted(inner) && hasUnknownFields(inner.default!, inner, isEmbedded(inner)));

/** Whether pruning by the schema would take anything away. */
function hasUnknownFields(value: Json, schema: JSONSchemaProps | undefined, isResource: boolean): boolean {
  if (Array.isArray(value)) {
    const items = schemaIn(schema?.items);
    return value.some((item) => hasUnknownFields(item, items, items !== undefined && isEmbedded(items)));
  }
  if (!isJsonObject(value)) return false;
  return Object.keys(value).some((key) => {
    if (isResource && METADATA_FIELDS.has(key)) return false;
    const properties = schema?.properties ?? {};
    const inner = Object.hasOwn(properties, key) ? properties[key] : schemaIn(schema?.additionalProperties);
    if (inner) return hasUnknownFields(value[key]!, inner, isEmbedded(inner));
    return schema?.additionalProperties !== true && schema?.['x-kubernetes-preserve-unknown-fields'] !== true;
  });
}

import { embeddedMetadata } from '../../registry/metadata.ts';
import { validateEmbedded } from '../../schema/structural/embedded-resources.ts';
import type { JsonSchema } from '../../schema/structural/json-schema.ts';
import { Structure } from '../../schema/structural/structure.ts';
import { validateValue } from '../../schema/structural/value-faults.ts';
import type { FieldErrors } from '../../util/field-errors.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Json } from '../../util/json-types.ts';
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
  validateBelow(schema, demands, { isResource: true, isInMetadata: false }, errors);
}

interface Place {
  isResource: boolean;
  /** Of a resource, whose fields the server itself knows. */
  isInMetadata: boolean;
}

/** Answers false where no more can be paid for: nothing else is looked at then. */
function validateBelow(schema: JSONSchemaProps, demands: Demands, place: Place, errors: FieldErrors): boolean {
  if (isDefaulted(schema) && !validateDefault(schema, demands, place, errors.at('default'))) return false;
  const items = schemaIn(schema.items);
  if (items && !validateBelow(items, demands, placeOf(items, place.isInMetadata), errors.at('items'))) return false;
  return Object.entries(schema.properties ?? {}).every(([name, property]) => {
    const isInMetadata = place.isInMetadata || (place.isResource && METADATA_FIELDS.has(name));
    return validateBelow(property, demands, placeOf(property, isInMetadata), errors.at('properties').key(name));
  });
}

const placeOf = (schema: JSONSchemaProps, isInMetadata: boolean): Place => ({
  isResource: isEmbedded(schema),
  isInMetadata: isInMetadata && !isEmbedded(schema),
});

function validateDefault(schema: JSONSchemaProps, { requirePruned, rules }: Demands, { isResource, isInMetadata }: Place, errors: FieldErrors): boolean {
  const value = schema.default!;
  if (requirePruned && !isInMetadata && hasUnknownFields(value, schema, isResource)) errors.invalid(value, 'must not have unknown fields');
  const before = errors.list.length;
  if (!isInMetadata) validateEmbedded(new Structure({ ...schema, ...(isResource && EMBEDDED) } as JsonSchema), value, embeddedMetadata, errors);
  if (errors.list.length === before) validateValue(schema, value, errors);
  return errors.list.length > before || rules === undefined || rules(schema, isResource, errors);
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

import { validateValue } from '../../schema/structural/value-faults.ts';
import type { FieldErrors } from '../../util/field-errors.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Json } from '../../util/json-types.ts';
import type { JSONSchemaProps } from '../facts/types/apiextensions-v1.ts';
import { isDefaulted } from './openapi-rules.ts';
import { schemaIn, someSchema } from './schema-walk.ts';

/** Defaults in a structural schema: what pruning would leave of them is what they are, and they are valid (apiextensions' schema/defaulting). */
const METADATA_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);

const isEmbedded = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-embedded-resource'] === true;

export function validateDefaults(schema: JSONSchemaProps, requirePruned: boolean, errors: FieldErrors): void {
  validateBelow(schema, requirePruned, true, false, errors);
}

/** `isInMetadata`: of a resource, whose fields the server itself knows. */
function validateBelow(schema: JSONSchemaProps, requirePruned: boolean, isResource: boolean, isInMetadata: boolean, errors: FieldErrors): void {
  if (isDefaulted(schema)) {
    const value = schema.default!;
    const at = errors.at('default');
    if (requirePruned && !isInMetadata && hasUnknownFields(value, schema, isResource)) at.invalid(value, 'must not have unknown fields');
    validateValue(schema, value, at);
  }
  const items = schemaIn(schema.items);
  if (items) validateBelow(items, requirePruned, isEmbedded(items), isInMetadata, errors.at('items'));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMetadata = isInMetadata || (isResource && METADATA_FIELDS.has(name));
    validateBelow(property, requirePruned, isEmbedded(property), isMetadata && !isEmbedded(property), errors.at('properties').key(name));
  }
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

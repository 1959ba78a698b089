import type { DataSchema } from '../../cel/data/data-schema.ts';
import type { JsonSchema } from '../../schema/structural/json-schema.ts';
import { isJsonObject } from '../../encoding/json.ts';

/** What expressions see of a structural schema. */
export function dataSchemaOf(schema: JsonSchema): DataSchema {
  const { type, format, nullable, required, maxItems, maxProperties, maxLength } = schema;
  const listType = schema['x-kubernetes-list-type'];
  const listMapKeys = schema['x-kubernetes-list-map-keys'];
  const properties = Object.entries(schema.properties ?? {});
  return {
    ...(type && { type: type as NonNullable<DataSchema['type']> }),
    ...(format && { format }),
    ...(nullable && { isNullable: true }),
    ...(schema['x-kubernetes-int-or-string'] && { isIntOrString: true }),
    ...(schema['x-kubernetes-embedded-resource'] && { isEmbeddedResource: true }),
    ...(schema['x-kubernetes-preserve-unknown-fields'] && { preservesUnknownFields: true }),
    ...(properties.length > 0 && { properties: new Map(properties.map(([name, property]) => [name, dataSchemaOf(property)])) }),
    ...(required && { required }),
    ...(isJsonObject(schema.additionalProperties) && { additionalProperties: dataSchemaOf(schema.additionalProperties as JsonSchema) }),
    ...(isJsonObject(schema.items) && { items: dataSchemaOf(schema.items as JsonSchema) }),
    ...(listType && { listType: listType as NonNullable<DataSchema['listType']> }),
    ...(listMapKeys && { listMapKeys }),
    ...(maxItems !== undefined && { maxItems }),
    ...(maxProperties !== undefined && { maxProperties }),
    ...(maxLength !== undefined && { maxLength }),
    ...(schema.enum && { enumValues: schema.enum }),
    ...(schema.default !== undefined && schema.default !== null && { hasDefault: true }),
  };
}

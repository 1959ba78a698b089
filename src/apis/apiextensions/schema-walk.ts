import { isJsonObject } from '../../util/json.ts';
import type { Json } from '../../util/json-types.ts';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../facts/types/apiextensions-v1.ts';

/** Decoding has made a schema of what stands here, unless it is a list or a boolean. */
export const schemaIn = (value: Json | undefined): JSONSchemaProps | undefined => (isJsonObject(value) ? (value as JSONSchemaProps) : undefined);
/** `items` as a list of schemas, which JSON Schema allows and Kubernetes does not. */
export const schemasIn = (value: Json | undefined): readonly JSONSchemaProps[] => (Array.isArray(value) ? (value as unknown as JSONSchemaProps[]) : []);

/** Whether this schema or one inside it is such. Bounded by the depth that the parser lets in. */
export function someSchema(schema: JSONSchemaProps | undefined, isSuch: (schema: JSONSchemaProps) => boolean): boolean {
  if (!schema) return false;
  if (isSuch(schema)) return true;
  for (const inner of innerSchemas(schema)) if (someSchema(inner, isSuch)) return true;
  return false;
}

/** Fields that may hold a schema, a list of schemas, and schemas by name. Most schemas have none of them. */
const WITH_SCHEMA = ['items', 'not', 'additionalProperties', 'additionalItems'] as const;
const WITH_SCHEMAS = ['allOf', 'anyOf', 'oneOf'] as const;
const WITH_NAMED_SCHEMAS = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;

function innerSchemas(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  const inner: JSONSchemaProps[] = [];
  const add = (value: Json | undefined): void => {
    const found = schemaIn(value);
    if (found) inner.push(found);
  };
  for (const field of WITH_SCHEMA) if (schema[field] !== undefined) add(schema[field] as Json);
  for (const item of schemasIn(schema.items)) inner.push(item);
  for (const field of WITH_SCHEMAS) for (const one of schema[field] ?? []) inner.push(one);
  for (const field of WITH_NAMED_SCHEMAS) if (schema[field] !== undefined) for (const one of Object.values(schema[field])) add(one as Json);
  return inner;
}

export const someSchemaOf = (spec: CustomResourceDefinitionSpec, isSuch: (schema: JSONSchemaProps) => boolean): boolean =>
  (spec.versions ?? []).some(({ schema }) => someSchema(schema?.openAPIV3Schema, isSuch));

import { hasKeys, isJsonObject } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
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

/** What the fields of a schema hold that hold schemas: most schemas have none of them. */
const HOLDERS: ReadonlyMap<string, 'one' | 'named'> = new Map([
  ...['items', 'not', 'additionalProperties', 'additionalItems', 'allOf', 'anyOf', 'oneOf'].map((field) => [field, 'one'] as const),
  ...['properties', 'patternProperties', 'definitions', 'dependencies'].map((field) => [field, 'named'] as const),
]);

/** Looked for by the fields that are there: a definition has tens of thousands of schemas with two fields each. */
function innerSchemas(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  let inner: JSONSchemaProps[] | undefined;
  for (const field in schema) {
    const holds = HOLDERS.get(field);
    if (holds === undefined) continue;
    const value = schema[field as keyof JSONSchemaProps] as Json | undefined;
    const values = holds === 'named' ? Object.values((value ?? {}) as JsonObject) : Array.isArray(value) ? value : [value];
    for (const one of values) if (isJsonObject(one)) (inner ??= []).push(one as JSONSchemaProps);
  }
  return inner ?? NO_SCHEMAS;
}

const NO_SCHEMAS: readonly JSONSchemaProps[] = [];

export const someSchemaOf = (spec: CustomResourceDefinitionSpec, isSuch: (schema: JSONSchemaProps) => boolean): boolean =>
  (spec.versions ?? []).some(({ schema }) => someSchema(schema?.openAPIV3Schema, isSuch));

const MAPS_OF_SCHEMAS: readonly (keyof JSONSchemaProps)[] = ['patternProperties', 'definitions', 'dependencies'];

/** Whether a schema has the field; a map of schemas that was sent empty is none. */
export function hasField(schema: JSONSchemaProps, field: keyof JSONSchemaProps): boolean {
  const value = schema[field];
  return value !== undefined && !(MAPS_OF_SCHEMAS.includes(field) && isJsonObject(value) && !hasKeys(value));
}

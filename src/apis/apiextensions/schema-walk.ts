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

function* innerSchemas(schema: JSONSchemaProps): Generator<JSONSchemaProps | undefined> {
  yield schemaIn(schema.items);
  yield* schemasIn(schema.items);
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) yield* list ?? [];
  yield schema.not;
  yield* Object.values(schema.properties ?? {});
  yield schemaIn(schema.additionalProperties);
  yield* Object.values(schema.patternProperties ?? {});
  yield schemaIn(schema.additionalItems);
  yield* Object.values(schema.definitions ?? {});
  for (const dependency of Object.values(schema.dependencies ?? {})) yield schemaIn(dependency);
}

export const someSchemaOf = (spec: CustomResourceDefinitionSpec, isSuch: (schema: JSONSchemaProps) => boolean): boolean =>
  (spec.versions ?? []).some(({ schema }) => someSchema(schema?.openAPIV3Schema, isSuch));

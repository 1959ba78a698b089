import type { ObjectSchema } from '../../schema/schema.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';

export interface CustomSchemaOptions {
  isV3: boolean;
  /** How the field `metadata` is described where it stands. */
  metadata: JsonObject;
  /** The words for `apiVersion` and `kind`. */
  describe(field: string): string;
}

/** A custom resource's schema as it is published: the definition's own, with the fields that every object has (…/controller/openapi/builder). */
export function customSchema({ custom, kinds }: ObjectSchema, options: CustomSchemaOptions): JsonObject {
  const schema = custom!.schema as JsonObject;
  const gvk = { 'x-kubernetes-group-version-kind': kinds.map(({ group, version, kind }) => ({ group, kind, version })) };
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true;
  // kubectl would take the fields that are told for all that there may be.
  if (keepsAll && !options.isV3) return { type: 'object', ...gvk };
  const published = publish(schema, options);
  return { ...published, properties: { ...typeFields(options), ...withoutTypeFields(published['properties'] as JsonObject | undefined) }, ...gvk };
}

function typeFields({ metadata, describe }: CustomSchemaOptions): JsonObject {
  const text = (field: string): JsonObject => ({ ...(describe(field) !== '' && { description: describe(field) }), type: 'string' });
  return { apiVersion: text('apiVersion'), kind: text('kind'), metadata };
}

function withoutTypeFields(properties: JsonObject = {}): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = properties;
  return rest;
}

const MANY = ['allOf', 'anyOf', 'oneOf'];
/** What kubectl of the days of OpenAPI v2 cannot read. */
const NOT_IN_V2 = new Set([...MANY, 'not', 'nullable', 'default']);

function publish(schema: JsonObject, options: CustomSchemaOptions): JsonObject {
  const plain = options.isV3 ? schema : forV2(schema);
  const published: JsonObject = {};
  for (const [key, value] of Object.entries(plain)) published[key] = publishPart(key, value!, options);
  if (plain['x-kubernetes-embedded-resource'] === true && (options.isV3 || plain['x-kubernetes-preserve-unknown-fields'] !== true)) {
    published['properties'] = { ...withoutTypeFields(published['properties'] as JsonObject | undefined), ...typeFields(options) };
    published['required'] = [...new Set([...((published['required'] as string[] | undefined) ?? []), 'kind', 'apiVersion'])];
  }
  return published;
}

function publishPart(key: string, value: Json, options: CustomSchemaOptions): Json {
  if (key === 'properties' && isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, publish(property as JsonObject, options)]));
  if ((key === 'items' || key === 'additionalProperties' || key === 'not') && isJsonObject(value)) return publish(value, options);
  if (MANY.includes(key) && Array.isArray(value)) return value.map((item) => publish(item as JsonObject, options));
  return value;
}

/** …/controller/openapi/v2 ToStructuralOpenAPIV2 */
function forV2(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) if (!NOT_IN_V2.has(key)) out[key] = value;
  const isNullable = schema['nullable'] === true;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isNullable || keepsUnknown) {
    delete out['items'];
    delete out['properties'];
  }
  if (isNullable || (out['items'] === undefined && out['type'] === 'array') || (keepsUnknown && out['type'] === 'object')) delete out['type'];
  const properties = (schema['properties'] ?? {}) as JsonObject;
  const required = ((schema['required'] ?? []) as string[]).filter((name) => (properties[name] as JsonObject | undefined)?.['nullable'] !== true);
  if (required.length > 0) out['required'] = required;
  else delete out['required'];
  return out;
}

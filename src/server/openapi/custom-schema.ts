import type { ObjectSchema } from '../../schema/schema.ts';
import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { CustomList } from './custom-list.ts';
import type { Descriptions } from './descriptions.ts';
import { isWritten, orderedSchema, sortedSchemaKeys } from './schema-order.ts';

/** The types under whose names the words for the fields that every custom resource, list and embedded resource has are found. */
export const PARTIAL_METADATA = 'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata';
export const PARTIAL_METADATA_LIST = `${PARTIAL_METADATA}List`;
const EMBEDDED = 'embedded';

export interface CustomSchemaOptions {
  isV3: boolean;
  /** How the field `metadata` is described where it stands. */
  metadata: JsonObject;
  descriptions: Descriptions;
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** A custom resource's schema as it is published: the definition's own, with the fields that every object has (…/controller/openapi/builder). */
export function* customSchema(type: ObjectSchema, options: CustomSchemaOptions): SlicedWork<JsonObject> {
  const schema = type.custom!.schema as JsonObject;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true;
  // kubectl would take the fields that are told for all that there may be.
  if (keepsAll && !options.isV3) return { type: 'object', ...extensionsOf(type, type) };
  const published = yield* publish(schema, options);
  const properties = withTypeFields(published['properties'] as JsonObject | undefined, typeFields(PARTIAL_METADATA, options));
  return orderedSchema({ ...published, properties, ...extensionsOf(type, type) });
}

export function customListSchema(
  { item, itemKind, kind, plural }: CustomList,
  type: ObjectSchema,
  { items, ...options }: CustomSchemaOptions & { items: JsonObject },
): JsonObject {
  const list = { description: `List of ${plural}. More info: ${CONVENTIONS}`, type: 'array', items };
  return {
    description: `${kind} is a list of ${itemKind}`,
    type: 'object',
    required: ['items'],
    properties: withTypeFields({ items: list }, typeFields(PARTIAL_METADATA, options)),
    ...extensionsOf(type, item),
  };
}

function extensionsOf({ kinds }: ObjectSchema, { custom }: ObjectSchema): JsonObject {
  const selectable = custom?.selectableFields ?? [];
  return {
    'x-kubernetes-group-version-kind': kinds.map(({ group, version, kind }) => ({ group, kind, version })),
    ...(selectable.length > 0 && { 'x-kubernetes-selectable-fields': selectable.map((fieldPath) => ({ fieldPath })) }),
  };
}

function typeFields(describedAs: string, { metadata, descriptions }: CustomSchemaOptions): JsonObject {
  const text = (field: string): JsonObject => {
    const description = descriptions.ofField(describedAs, field);
    return { ...(description !== '' && { description }), type: 'string' };
  };
  return { apiVersion: text('apiVersion'), kind: text('kind'), metadata };
}

const withTypeFields = (properties: JsonObject | undefined, own: JsonObject): JsonObject => sortedKeys({ ...properties, ...own });

const sortedKeys = (object: JsonObject): JsonObject => Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** At every depth: values of any kind are maps in Go. */
function sortedAll(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedAll);
  if (!isJsonObject(value)) return value;
  return sortedKeys(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sortedAll(inner!)])));
}

const ONE = ['items', 'additionalProperties', 'not'];
const MANY = ['allOf', 'anyOf', 'oneOf'];
const HOLDS_SCHEMAS = new Set(['properties', ...ONE, ...MANY]);
/** What kubectl of the days of OpenAPI v2 cannot read. */
const NOT_IN_V2 = new Set([...MANY, 'not', 'nullable', 'default']);

function* publish(schema: JsonObject, options: CustomSchemaOptions): SlicedWork<JsonObject> {
  const plain = options.isV3 ? unfold(schema) : schema;
  const published: JsonObject = {};
  for (const key of writtenKeys(plain, options)) {
    const value = plain[key]!;
    published[key] = HOLDS_SCHEMAS.has(key) ? yield* publishInner(key, value, options) : publishValue(key, plain, options);
  }
  return isEmbedded(schema, options) ? withEmbeddedFields(published, options) : published;
}

/** One that holds no others: most are such. */
function publishLeaf(schema: JsonObject, options: CustomSchemaOptions): JsonObject {
  const plain = options.isV3 ? unfold(schema) : schema;
  const published: JsonObject = {};
  for (const key of writtenKeys(plain, options)) published[key] = publishValue(key, plain, options);
  return published;
}

const isLeaf = (schema: JsonObject, options: CustomSchemaOptions): boolean =>
  !Object.keys(schema).some((key) => HOLDS_SCHEMAS.has(key)) && !isEmbedded(schema, options);

const isEmbedded = (schema: JsonObject, { isV3 }: CustomSchemaOptions): boolean =>
  schema['x-kubernetes-embedded-resource'] === true && (isV3 || schema['x-kubernetes-preserve-unknown-fields'] !== true);

function withEmbeddedFields(published: JsonObject, options: CustomSchemaOptions): JsonObject {
  const properties = withTypeFields(published['properties'] as JsonObject | undefined, typeFields(EMBEDDED, options));
  const required = [...new Set([...((published['required'] as string[] | undefined) ?? []), 'kind', 'apiVersion'])];
  return orderedSchema({ ...published, properties, required });
}

function* publishInner(key: string, value: Json, options: CustomSchemaOptions): SlicedWork<Json> {
  yield;
  if (key === 'properties' && isJsonObject(value)) return yield* publishProperties(value, options);
  if (ONE.includes(key) && isJsonObject(value)) return yield* publish(value, options);
  if (MANY.includes(key) && Array.isArray(value)) {
    const items: JsonObject[] = [];
    for (const item of value) items.push(yield* publish(item as JsonObject, options));
    return items;
  }
  return value;
}

/** Properties that are published in one step. */
const PROPERTIES_AT_ONCE = 64;

function* publishProperties(schemas: JsonObject, options: CustomSchemaOptions): SlicedWork<JsonObject> {
  const properties: JsonObject = {};
  for (const [index, name] of Object.keys(schemas).sort().entries()) {
    if (index % PROPERTIES_AT_ONCE === PROPERTIES_AT_ONCE - 1) yield;
    const schema = schemas[name] as JsonObject;
    setKey(properties, name, isLeaf(schema, options) ? publishLeaf(schema, options) : yield* publish(schema, options));
  }
  return properties;
}

function publishValue(key: string, schema: JsonObject, { isV3 }: CustomSchemaOptions): Json {
  const value = schema[key]!;
  if (key === 'default' || key === 'example') return sortedAll(value);
  if (isV3) return value;
  if (key === 'required') return requiredInV2(schema);
  // Extensions are decoded once more in v2, which sorts their keys.
  return key === 'x-kubernetes-validations' ? (value as JsonObject[]).map((rule) => sortedKeys(rule)) : value;
}

const writtenKeys = (schema: JsonObject, { isV3 }: CustomSchemaOptions): string[] =>
  sortedSchemaKeys(schema).filter((key) => isWritten(key, schema[key]) && (isV3 || isInV2(key, schema)));

const EITHER: Json = [{ type: 'integer' }, { type: 'string' }];

/** The extension that allows numbers and strings is told in plain JSON Schema too (apiserver/schema/unfold.go). */
function unfold(schema: JsonObject): JsonObject {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { anyOf, allOf = [] } = schema;
  if (anyOf === undefined && !isEither((allOf as JsonObject[])[0]?.['anyOf'])) return { ...schema, anyOf: EITHER };
  if (anyOf === undefined || isEither(anyOf)) return schema;
  return { ...schema, allOf: [{ anyOf: EITHER }, ...(allOf as JsonObject[])] };
}

const isEither = (anyOf: Json | undefined): boolean => JSON.stringify(anyOf) === JSON.stringify(EITHER);

/** …/controller/openapi/v2 ToStructuralOpenAPIV2 */
function isInV2(key: string, schema: JsonObject): boolean {
  if (NOT_IN_V2.has(key)) return false;
  const isNullable = schema['nullable'] === true;
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isOpen = isNullable || keepsUnknown;
  if (key === 'items' || key === 'properties') return !isOpen;
  if (key === 'required') return requiredInV2(schema).length > 0;
  if (key !== 'type') return true;
  const { type, items } = schema;
  return !isNullable && !(type === 'array' && (isOpen || items === undefined)) && !(type === 'object' && keepsUnknown);
}

function requiredInV2({ properties = {}, required = [] }: JsonObject): string[] {
  return (required as string[]).filter((name) => ((properties as JsonObject)[name] as JsonObject | undefined)?.['nullable'] !== true);
}

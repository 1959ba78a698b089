import { isJsonObject } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { FieldSchema, ListSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { hasUnknownFields, settleObject, shapeObject } from './shape.ts';
import type { Structure } from './structure.ts';

export interface CustomTypeOptions {
  /** OpenAPI's name: `com.example.v1.Widget`. */
  name: string;
  group: string;
  version: string;
  kind: string;
  /** Fields that selectors may name, as OpenAPI lists them. */
  selectableFields: readonly string[];
  structure: Structure;
  /** Of ObjectMeta. */
  metadata: ObjectSchema;
}

/** The type of a custom resource in one version. Decoding goes by its structure; ownership walks its fields, which are made when they are first asked for. */
export function customType({ name, group, version, kind, selectableFields, structure, metadata }: CustomTypeOptions): ObjectSchema {
  let fields: ReadonlyMap<string, FieldSchema> | undefined;
  return {
    type: 'object',
    name,
    get fields() {
      return (fields ??= withTypeFields(fieldsOf(structure.schema, false, metadata), metadata));
    },
    ...(structure.keepsUnknownFields && { additional: ANY }),
    kinds: [{ group, version, kind }],
    custom: {
      schema: structure.schema,
      selectableFields,
      metadata: field('metadata', metadata),
      decode: (value, strict, keepsNulls, run) => shapeObject(structure, metadata, value, strict, keepsNulls, run),
      settle: (object, run) => settleObject(structure, metadata, object, run),
      hasUnknownFields,
    },
  };
}

const ANY: ScalarSchema = { type: 'any' };
const TEXT: ScalarSchema = { type: 'string' };
/** A time may be written as any scalar, as far as ownership is concerned; and so may text of every format but bytes (schemaconv's convertPrimitive). */
const ANY_SCALAR: ScalarSchema = { type: 'time' };
const PLAIN_FORMATS: ReadonlySet<string> = new Set(['', 'byte']);

const SCALARS: Readonly<Record<string, ScalarSchema>> = { string: TEXT, boolean: { type: 'boolean' }, integer: { type: 'int64' }, number: { type: 'double' } };

/** As ownership sees it (kube-openapi/pkg/schemaconv/openapi.go). `keeps`: an object above lets unknown fields in, and so do all below it. */
function typeOf(schema: JsonSchema, keeps: boolean, metadata: ObjectSchema): TypeSchema {
  const keepsHere = keeps || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['x-kubernetes-int-or-string']) return ANY;
  if (schema.type === 'array') return listOf(schema, keepsHere, metadata);
  if (schema.type === 'object') return objectOf(schema, keepsHere, metadata);
  if (schema.type === 'string' && !PLAIN_FORMATS.has(schema.format ?? '')) return ANY_SCALAR;
  return SCALARS[schema.type ?? ''] ?? ANY;
}

const LIST_TYPES: Readonly<Record<string, ListSchema['listType']>> = { set: 'set', map: 'map', atomic: 'atomic' };

function listOf(schema: JsonSchema, keeps: boolean, metadata: ObjectSchema): ListSchema {
  const listType = LIST_TYPES[schema['x-kubernetes-list-type'] ?? ''];
  const listMapKeys = schema['x-kubernetes-list-map-keys'];
  const items = isJsonObject(schema.items as Json) ? typeOf(schema.items as JsonSchema, keeps, metadata) : ANY;
  return { type: 'list', items, ...(listType && { listType }), ...(listMapKeys && { listMapKeys }) };
}

function objectOf(schema: JsonSchema, keeps: boolean, metadata: ObjectSchema): TypeSchema {
  const mapType = schema['x-kubernetes-map-type'] === 'atomic' ? ('atomic' as const) : undefined;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const own = fieldsOf(schema, keeps, metadata);
  const fields = isEmbedded ? withTypeFields(own, metadata) : own;
  const additional = additionalType(schema, keeps, metadata);
  if (fields.size === 0) return { type: 'map', values: additional ?? ANY, ...(mapType && { mapType }) };
  return { type: 'object', name: '', fields, kinds: [], ...(mapType && { mapType }), ...(additional && { additional }) };
}

function additionalType({ additionalProperties }: JsonSchema, keeps: boolean, metadata: ObjectSchema): TypeSchema | undefined {
  if (isJsonObject(additionalProperties as Json)) return typeOf(additionalProperties as JsonSchema, keeps, metadata);
  return additionalProperties === true || (keeps && additionalProperties === undefined) ? ANY : undefined;
}

function fieldsOf(schema: JsonSchema, keeps: boolean, metadata: ObjectSchema): Map<string, FieldSchema> {
  const fields = new Map<string, FieldSchema>();
  const required = new Set(schema.required);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    fields.set(name, {
      ...field(name, typeOf(property, keeps, metadata), required.has(name)),
      ...(property.default !== undefined && { default: property.default }),
    });
  }
  return fields;
}

function withTypeFields(fields: Map<string, FieldSchema>, metadata: ObjectSchema): Map<string, FieldSchema> {
  return new Map([
    ['kind', field('kind', TEXT)],
    ['apiVersion', field('apiVersion', TEXT)],
    ['metadata', field('metadata', metadata)],
    ...[...fields].filter(([name]) => !['kind', 'apiVersion', 'metadata'].includes(name)),
  ]);
}

const field = (name: string, type: TypeSchema, required = false): FieldSchema => ({ name, type, required, whenEmpty: 'omit', pointer: true });

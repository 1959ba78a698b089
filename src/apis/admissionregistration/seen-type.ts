import type { DataSchema } from '../../cel/data/data-schema.ts';
import type { FieldSchema, ObjectSchema, ScalarSchema, TypeSchema } from '../../schema/schema.ts';

/** By how OpenAPI writes them. Of quantities it only says that they are this or that, so that expressions that are checked do not see them, as upstream has it. */
const SCALARS: Readonly<Record<ScalarSchema['type'], DataSchema | undefined>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer' },
  int64: { type: 'integer' },
  double: { type: 'number' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  intOrString: { isIntOrString: true },
  quantity: {},
  any: { type: 'object' },
};

/** Schemas without a type: any JSON at all. */
const ANY_JSON = /\.JSON(SchemaPropsOr\w+)?$/;

/** What expressions that are checked against a type see of it (apiserver/pkg/cel/openapi/resolver). A type inside itself is an object without fields. */
export function seenType(schema: TypeSchema, around: ReadonlySet<ObjectSchema> = new Set()): DataSchema {
  switch (schema.type) {
    case 'object':
      return around.has(schema) ? { type: 'object' } : seenObject(schema, new Set([...around, schema]));
    case 'list':
      return { type: 'array', items: seenType(schema.items, around) };
    case 'map':
      return { type: 'object', additionalProperties: seenType(schema.values, around) };
    default:
      return ANY_JSON.test(schema.name ?? '') || schema.orObject ? {} : SCALARS[schema.type]!;
  }
}

function seenObject({ fields, additional }: ObjectSchema, around: ReadonlySet<ObjectSchema>): DataSchema {
  const seenField = ({ type }: FieldSchema): DataSchema => seenType(type, around);
  if (fields.size === 0 && additional) return { type: 'object', additionalProperties: seenType(additional, around) };
  return { type: 'object', properties: new Map([...fields].map(([name, field]) => [name, seenField(field)])) };
}

import type { ServedVersion } from '../../registry/definition.ts';
import type { FieldSchema, ObjectSchema } from '../../schema/schema.ts';
import type { OpenApiTypes } from './routes.ts';

/** The list kind of a custom resource, which no table holds: the fields that every list has, over the resource's own type. */
export function listSchemaOf({ group, version, kind, schema }: ServedVersion, types: OpenApiTypes): ObjectSchema {
  const known = lists.get(schema);
  if (known) return known;
  const fields = [
    field('apiVersion', { type: 'string' }),
    field('items', { type: 'list', items: schema }, true),
    field('kind', { type: 'string' }),
    field('metadata', types.schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta')),
  ];
  const list: ObjectSchema = {
    type: 'object',
    name: `${schema.name}List`,
    fields: new Map(fields.map((each) => [each.name, each])),
    kinds: [{ group, version, kind: `${kind}List` }],
  };
  lists.set(schema, list);
  return list;
}

const lists = new WeakMap<ObjectSchema, ObjectSchema>();

const field = (name: string, type: FieldSchema['type'], required = false): FieldSchema => ({ name, type, required, whenEmpty: 'omit', pointer: false });

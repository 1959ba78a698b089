import type { ServedVersion } from '../../registry/definition.ts';
import type { FieldSchema, ObjectSchema } from '../../schema/schema.ts';
import type { OpenApiTypes } from './routes.ts';

/** What a list of custom resources is a list of. */
export interface CustomList {
  item: ObjectSchema;
  itemKind: string;
  kind: string;
  plural: string;
}

/** The list kind of a custom resource, which no table holds: the fields that every list has, over the resource's own type. */
export function listSchemaOf({ group, version, kind, listKind = `${kind}List`, schema }: ServedVersion, plural: string, types: OpenApiTypes): ObjectSchema {
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
    name: schema.name.replace(/[^.]*$/, listKind),
    fields: new Map(fields.map((each) => [each.name, each])),
    kinds: [{ group, version, kind: listKind }],
  };
  lists.set(schema, list);
  contents.set(list, { item: schema, itemKind: kind, kind: listKind, plural });
  return list;
}

const lists = new WeakMap<ObjectSchema, ObjectSchema>();
const contents = new WeakMap<ObjectSchema, CustomList>();

/** Of a type that `listSchemaOf` made. */
export const customListOf = (schema: ObjectSchema): CustomList | undefined => contents.get(schema);

const field = (name: string, type: FieldSchema['type'], required = false): FieldSchema => ({ name, type, required, whenEmpty: 'omit', pointer: false });

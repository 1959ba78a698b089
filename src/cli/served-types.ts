import { seenType } from '../apis/admissionregistration/seen-type.ts';
import type { ServedType } from '../apis/admissionregistration/type-checking.ts';
import type { DataSchema } from '../cel/data/data-schema.ts';
import { dataSchemaOf } from '../extensions/rules/data-schema-of.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { JsonSchema } from '../schema/structural/json-schema.ts';

/** All kinds that are served now, with what expressions see of them. */
export const servedTypes = (versions: Iterable<ApiVersion>): ServedType[] =>
  [...versions].flatMap(({ group, version, resources }) =>
    [...resources].map(([plural, { served }]) => ({ group, version, plural, kind: served.kind, seen: () => seenOf(served.schema) })),
  );

/** A custom resource is seen as its definition has it, with all metadata. */
function seenOf(schema: ObjectSchema): DataSchema {
  if (!schema.custom) return seenType(schema);
  const { properties, ...seen } = dataSchemaOf(schema.custom.schema as JsonSchema);
  const own = ['kind', 'apiVersion', 'metadata'].map((name) => [name, seenType(schema.fields.get(name)!.type)] as const);
  return { ...seen, type: 'object', properties: new Map([...(properties ?? []), ...own]) };
}

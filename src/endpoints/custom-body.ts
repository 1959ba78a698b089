import { customType } from '../schema/structural/custom-type.ts';
import { Structure } from '../schema/structural/structure.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { GroupVersionKind } from '../api/api-object.ts';
import type { ClientKind, ResourceTarget } from './target.ts';

/**
 * By what a custom object is decoded that is sent as one of the given type: the schema of the version that it names, whatever the path says. Versions that
 * there are not know no field, and objects of other kinds are let be (apiextensions-apiserver customresource_handler.go unstructuredSchemaCoercer).
 */
export function schemaOfSent(sent: GroupVersionKind, expected: ClientKind, { store }: ResourceTarget): ObjectSchema {
  const isKind = sent.group === expected.group && sent.kind === expected.kind;
  if (isKind && sent.version === expected.version) return expected.schema;
  const named = isKind ? store.definition.served.find(({ version }) => version === sent.version) : undefined;
  return named?.schema ?? (isKind ? bareType(expected, false) : bareType(expected, true));
}

function bareType({ group, version, kind, schema }: ClientKind, keepsAll: boolean): ObjectSchema {
  const structure = new Structure({ type: 'object', ...(keepsAll && { 'x-kubernetes-preserve-unknown-fields': true }) });
  const metadata = schema.fields.get('metadata')!.type as ObjectSchema;
  return customType({ name: schema.name ?? '', group, version, kind, selectableFields: [], structure, metadata });
}

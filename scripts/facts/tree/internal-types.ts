import { type GoField, type GoPackage, readPackage } from './go-source.ts';

/*
 * The internal types of the core group, which upstream prints in messages under the names of Go's fields. One line a type, of `GoName[:name][=zero]`:
 * `name` is the field's name in v1 where it is not the Go name with a small first letter; zero is a JSON value, `Type`, `*Type` or `[]Type`, and null if absent.
 */

/** The types that messages show; what they hold follows. */
const SHOWN = ['PodTemplateSpec', 'PersistentVolumeClaimSpec', 'PersistentVolumeSpec', 'PersistentVolumeSource', 'HostIP', 'PodIP'];
const INTERNAL = 'k8s.io/kubernetes/pkg/apis/core';
const PUBLISHED = 'k8s.io/api/core/v1';

/** Types of other packages that are no pointers, as their zero value is printed. */
const FOREIGN_ZEROS: Record<string, string> = { 'intstr.IntOrString': '0', 'resource.Quantity': '"0"', 'types.UID': '""' };
const SCALAR_ZEROS: Record<string, string> = { string: '""', bool: 'false', int: '0', int32: '0', int64: '0', float64: '0' };
const OBJECT_META = /^(metav1\.)?ObjectMeta$/;

export function internalTypes(tree: string): Record<string, string> {
  const internal = readPackage(tree, INTERNAL);
  const published = readPackage(tree, PUBLISHED);
  const lines = new Map<string, string>();
  const waiting = [...SHOWN];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (lines.has(name)) continue;
    const jsonNames = new Map(flattened(published, name).map((field) => [field.name, field.tags['json']?.split(',')[0] ?? '']));
    const fields = flattened(internal, name).map((field) => fieldWord(field, jsonNames.get(field.name), internal));
    lines.set(name, fields.map(({ text }) => text).join(' '));
    waiting.push(...fields.flatMap(({ type }) => type ?? []));
  }
  return Object.fromEntries([...lines].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A struct's fields with those of the structs that it embeds in their place. */
function flattened(goPackage: GoPackage, name: string): GoField[] {
  return (goPackage.structs.get(name) ?? []).flatMap((field) =>
    field.isEmbedded && !OBJECT_META.test(field.type) && goPackage.structs.has(field.name) ? flattened(goPackage, field.name) : [field],
  );
}

function fieldWord(field: GoField, publishedName: string | undefined, internal: GoPackage): { text: string; type?: string } {
  if (OBJECT_META.test(field.type)) return { text: ':metadata=meta' };
  const plainName = field.name.slice(0, 1).toLowerCase() + field.name.slice(1);
  const name = publishedName === undefined || publishedName === '' || publishedName === plainName ? field.name : `${field.name}:${publishedName}`;
  const [, prefix, base] = /^(\*|\[\])?(.*)$/.exec(field.type)! as unknown as [string, string | undefined, string];
  if (internal.structs.has(base)) return { text: `${name}=${prefix ?? ''}${base}`, type: base };
  const zero = prefix === undefined ? zeroOf(base, internal) : undefined;
  return { text: zero === undefined ? name : `${name}=${zero}` };
}

const zeroOf = (type: string, { named }: GoPackage): string | undefined => FOREIGN_ZEROS[type] ?? SCALAR_ZEROS[named.get(type) ?? type];

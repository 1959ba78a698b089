import { type GoField, type GoPackage, readPackage } from './go-source.ts';

/*
 * How upstream's structs are encoded: what neither OpenAPI nor protobuf tells. One line a field: `name`, `*` for a pointer, `?` omitempty, `!` omitzero,
 * `=protoName` where that differs, then Go's type where its name does not follow from OpenAPI's: `restartPolicy? v1.RestartPolicy`. `...TypeMeta` and
 * `...protoName:Type` are structs that JSON inlines.
 */

const BUILT_IN = /^(string|bool|byte|u?int(8|16|32|64)?|float(32|64)|any|interface\{\})$/;
const TYPE_META = 'k8s.io/apimachinery/pkg/apis/meta/v1.TypeMeta';

/** `k8s.io/api/core/v1` → `io.k8s.api.core.v1`, the name of a package in OpenAPI. */
export const packageNameOf = (importPath: string): string => `io.k8s.${importPath.slice('k8s.io/'.length).replaceAll('/', '.')}`;

/** All structs of a package that are encoded, by their names in OpenAPI. */
export function encodingOf(tree: string, importPath: string): Record<string, string[]> {
  const goPackage = readPackage(tree, importPath);
  const context = { tree, importPath, goPackage };
  const own = [...goPackage.structs].map(([name, fields]) => ({ name, fields, context }));
  const structs = [...own, ...definedAsStructs(context)].filter(({ fields }) => isEncoded(fields));
  return Object.fromEntries(
    structs.map(({ name, fields, context: from }) => [`${packageNameOf(importPath)}.${name}`, fields.flatMap((field) => fieldLine(field, from))]),
  );
}

const isEncoded = (fields: readonly GoField[]): boolean => fields.length === 0 || fields.some(({ tags }) => tags['json'] !== undefined && tags['json'] !== '-');

/** `type List metav1.List`: a type of its own with another struct's fields. An alias (`type A = v1.A`) declares none. */
function definedAsStructs(context: Context): { name: string; fields: readonly GoField[]; context: Context }[] {
  return [...context.goPackage.named].flatMap(([name, type]) => {
    if (type.startsWith('=') || partsOf(type)[0] !== type || BUILT_IN.test(type)) return [];
    const { importPath, name: otherName } = resolved(type, context);
    const goPackage = readPackage(context.tree, importPath);
    const fields = goPackage.structs.get(otherName);
    return fields ? [{ name, fields, context: { ...context, importPath, goPackage } }] : [];
  });
}

interface Context {
  readonly tree: string;
  readonly importPath: string;
  readonly goPackage: GoPackage;
}

function fieldLine(field: GoField, context: Context): string[] {
  const [jsonName, ...options] = (field.tags['json'] ?? '').split(',');
  if (jsonName === '-') return [];
  const protoName = /(?:^|,)name=(\w+)/.exec(field.tags['protobuf'] ?? '')?.[1];
  const type = field.type.replace(/^\*/, '');
  if (field.isEmbedded && (jsonName ?? '') === '') {
    const { importPath, name } = resolved(type, context);
    if (`${importPath}.${name}` === TYPE_META) return ['...TypeMeta'];
    return [`...${protoName ?? name.slice(0, 1).toLowerCase() + name.slice(1)}:${packageNameOf(importPath)}.${name}`];
  }
  const name = jsonName === undefined || jsonName === '' ? field.name : jsonName;
  const flags = `${field.type.startsWith('*') ? '*' : ''}${options.includes('omitempty') ? '?' : ''}${options.includes('omitzero') ? '!' : ''}`;
  const renamed = protoName !== undefined && protoName !== name ? `=${protoName}` : '';
  const goType = hasNameOfItsOwn(type, context) ? ` ${shown(type, context)}` : '';
  return [`${name}${flags}${renamed}${goType}`];
}

interface TypeName {
  readonly importPath: string;
  readonly name: string;
}

/** A type as a package's own source writes it, with aliases followed. */
function resolved(type: string, { tree, importPath, goPackage }: Context): TypeName {
  const [alias, name] = type.includes('.') ? (type.split('.') as [string, string]) : [undefined, type];
  const path = alias === undefined ? importPath : (goPackage.imports.get(alias) ?? alias);
  const declaring = readPackage(tree, path);
  const target = /^= ?(.+)$/.exec(declaring.named.get(name) ?? '')?.[1];
  return target === undefined ? { importPath: path, name } : resolved(target, { tree, importPath: path, goPackage: declaring });
}

/** The parts of `map[Key]Value`, `[]Item` and `*Type`. */
function partsOf(type: string): string[] {
  const map = /^map\[([^\]]+)\](.+)$/.exec(type);
  if (map) return [map[1]!, ...partsOf(map[2]!)];
  const list = /^(?:\[\]|\*)(.+)$/.exec(type);
  return list ? partsOf(list[1]!) : [type];
}

/** A type that is declared, and no struct: OpenAPI shows only what it stands for. */
function hasNameOfItsOwn(type: string, context: Context): boolean {
  return partsOf(type).some((part) => {
    if (BUILT_IN.test(part)) return false;
    const { importPath, name } = resolved(part, context);
    const declaring = readPackage(context.tree, importPath);
    return declaring.named.has(name) && definedAsStructs({ ...context, importPath, goPackage: declaring }).every((defined) => defined.name !== name);
  });
}

/** As `%T` prints it: every name with its package's. */
function shown(type: string, context: Context): string {
  return type.replaceAll(/[\w.]+/g, (word) => {
    if (BUILT_IN.test(word) || word === 'map') return word;
    const { importPath, name } = resolved(word, context);
    return `${readPackage(context.tree, importPath).name}.${name}`;
  });
}

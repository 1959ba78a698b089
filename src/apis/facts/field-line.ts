import type { Json } from '../../encoding/json-types.ts';
import type { FieldSchema, ListSchema, MapSchema, ObjectSchema, PatchStrategy, ScalarSchema, ScalarType, TypeSchema } from '../../schema/schema.ts';

/**
 * The lines of `types.json`, as `scripts/facts/types-table.ts` writes them:
 *
 *     containers! 2 []Container list=map keys=name patch=merge mergeKey=name
 *     restartPolicy 3 string ? go=v1.RestartPolicy enum Always|Never|OnFailure
 *     ...volumeSource 2 VolumeSource
 *
 * name (`!` required), protobuf number or `-`, type (`[]` list, `<>` list that protobuf wraps, `{}` map), then Go's flags (`*` pointer, `?` omitempty,
 * `!` omitzero), then `key=value` words, then the enum. `...` stands for a struct that JSON inlines.
 */
export type ParsedLine = { inlined: string; protoNumber: number } | { field: FieldSchema };

/** Gives the schema of a type by its reference in a line: a bare name of the same package, or a full one. */
export type Resolve = (reference: string) => ObjectSchema;

const APIMACHINERY = 'io.k8s.apimachinery.pkg';
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

const NAMED_SCALARS: Record<string, ScalarSchema> = {
  time: { type: 'time', name: `${APIMACHINERY}.apis.meta.v1.Time` },
  microTime: { type: 'microTime', name: `${APIMACHINERY}.apis.meta.v1.MicroTime` },
  fieldsV1: { type: 'any', name: `${APIMACHINERY}.apis.meta.v1.FieldsV1` },
  quantity: { type: 'quantity', name: `${APIMACHINERY}.api.resource.Quantity` },
  intOrString: { type: 'intOrString', name: `${APIMACHINERY}.util.intstr.IntOrString` },
  rawExtension: { type: 'any', name: `${APIMACHINERY}.runtime.RawExtension` },
  json: { type: 'any', name: `${APIEXTENSIONS}.JSON` },
};

const ALTERNATIVES = {
  schemaOrArray: { name: `${APIEXTENSIONS}.JSONSchemaPropsOrArray`, or: 'objects' },
  schemaOrBool: { name: `${APIEXTENSIONS}.JSONSchemaPropsOrBool`, or: 'boolean' },
  schemaOrStringArray: { name: `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`, or: 'strings' },
} as const;

const PLAIN_SCALARS: Record<string, ScalarSchema> = Object.fromEntries(
  (['string', 'boolean', 'int32', 'int64', 'double', 'bytes'] satisfies ScalarType[]).map((type) => [type, { type }]),
);

export function parseLine(line: string, resolve: Resolve): ParsedLine {
  const enumAt = line.indexOf(' enum ');
  const words = (enumAt === -1 ? line : line.slice(0, enumAt)).split(' ');
  const [name, number, typeWord] = words as [string, string, string];
  if (name.startsWith('...')) return { inlined: typeWord, protoNumber: Number(number) };
  const flags = /^[*?!]+$/.test(words[3] ?? '') ? words[3]! : '';
  const options = new Map(words.slice(flags === '' ? 3 : 4).map((word) => splitOnce(word)));
  const values = enumAt === -1 ? undefined : line.slice(enumAt + ' enum '.length).split('|');
  const type = withGoName(parseType(typeWord, options, values, resolve), options.get('go'));
  const required = name.endsWith('!');
  const patchStrategy = options.get('patch') as PatchStrategy | undefined;
  const mapType = options.get('map') as FieldSchema['mapType'];
  const defaultText = options.get('default');
  const field: FieldSchema = {
    name: required ? name.slice(0, -1) : name,
    type,
    required,
    whenEmpty: whenEmpty(type, flags),
    pointer: flags.includes('*') || type.type === 'any',
    ...(defaultText !== undefined && { default: JSON.parse(defaultText) as Json }),
    ...(number !== '-' && { protoNumber: Number(number) }),
    ...(patchStrategy !== undefined && type.type === 'object' && { patchStrategy }),
    ...(mapType !== undefined && type.type === 'object' && { mapType }),
  };
  return { field };
}

function splitOnce(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

/** What Go's encoding/json writes for a field of this type, with these flags, that was never set. */
function whenEmpty({ type }: TypeSchema, flags: string): FieldSchema['whenEmpty'] {
  const omitsEmpty = flags.includes('?');
  if (flags.includes('!')) return 'omit';
  if (flags.includes('*') || type === 'list' || type === 'map' || type === 'bytes') return omitsEmpty ? 'omit' : 'null';
  // Structs are never empty to omitempty. A zero time and a raw extension without content write themselves as null.
  if (type === 'time' || type === 'microTime' || type === 'any') return 'null';
  if (type === 'object' || type === 'quantity' || type === 'duration' || type === 'intOrString') return 'zero';
  return omitsEmpty ? 'omit' : 'zero';
}

function parseType(word: string, options: ReadonlyMap<string, string>, values: readonly string[] | undefined, resolve: Resolve): TypeSchema {
  const prefix = word.slice(0, 2);
  const patchStrategy = options.get('patch') as PatchStrategy | undefined;
  if (prefix === '[]' || prefix === '<>') {
    const listType = options.get('list') as ListSchema['listType'];
    const patchMergeKey = options.get('mergeKey');
    const list: ListSchema = {
      type: 'list',
      items: parseItem(word.slice(2), values, resolve),
      ...(listType && { listType }),
      ...(options.has('keys') && { listMapKeys: options.get('keys')!.split(',') }),
      ...(patchStrategy && { patchStrategy }),
      ...(patchMergeKey !== undefined && { patchMergeKey }),
      ...(prefix === '<>' && { protoWrapped: true }),
    };
    return list;
  }
  if (prefix === '{}') {
    const mapType = options.get('map') as MapSchema['mapType'];
    return { type: 'map', values: parseItem(word.slice(2), values, resolve), ...(mapType && { mapType }), ...(patchStrategy && { patchStrategy }) };
  }
  const item = parseItem(word, values, resolve);
  return item.type === 'bytes' && options.has('list') ? { ...item, listType: 'atomic' } : item;
}

/** `goType` as a struct declares the field: what of it has a name is known by it, the list and its items, the map and its values. */
function withGoName(type: TypeSchema, goType: string | undefined): TypeSchema {
  if (goType === undefined || type.type === 'object') return type;
  if (type.type === 'list') return goType.startsWith('[]') ? { ...type, items: withGoName(type.items, goType.slice(2)) } : { ...type, goName: goType };
  if (type.type === 'map') {
    const valueType = /^map\[[^\]]+\](.+)$/.exec(goType)?.[1];
    return { ...type, goName: goType, values: withGoName(type.values, valueType) };
  }
  return { ...type, goName: goType };
}

function parseItem(word: string, values: readonly string[] | undefined, resolve: Resolve): TypeSchema {
  if (word.startsWith('<>')) return { type: 'list', items: parseItem(word.slice(2), values, resolve), protoWrapped: true };
  const scalar = PLAIN_SCALARS[word] ?? NAMED_SCALARS[word];
  if (scalar !== undefined) return values === undefined ? scalar : { ...scalar, enum: values };
  if (Object.hasOwn(ALTERNATIVES, word)) {
    const { name, or } = ALTERNATIVES[word as keyof typeof ALTERNATIVES];
    return { type: 'any', name, orObject: { schema: resolve('JSONSchemaProps'), or } };
  }
  return resolve(word);
}

import type { EncodingFacts, OpenApiSchema, ProtoField, ProtoMessages } from './openapi.ts';
import { referenceOf } from './openapi.ts';

/** One type of the tables; `src/apis/facts/field-line.ts` reads the lines. */
export interface TypeEntry {
  /** `group/version/Kind` */
  kinds?: string[];
  mapType?: string;
  unions?: { discriminator?: string; fields: Record<string, string> }[];
  /** The type has no protobuf form; others' message is named as they are. */
  noProto?: true;
  fields: string[];
}

export interface TypeSources {
  schemas: Map<string, OpenApiSchema>;
  messages: ProtoMessages;
  encoding: EncodingFacts;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

/** Types that JSON shows as one value. Their words in a field line. */
const NAMED_SCALARS: Record<string, string> = {
  [`${META}.Time`]: 'time',
  [`${META}.MicroTime`]: 'microTime',
  [`${META}.FieldsV1`]: 'fieldsV1',
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'rawExtension',
  [`${APIEXTENSIONS}.JSON`]: 'json',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrArray`]: 'schemaOrArray',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrBool`]: 'schemaOrBool',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`]: 'schemaOrStringArray',
};

const PROTO_SCALARS: Record<string, string> = { string: 'string', bool: 'boolean', int32: 'int32', int64: 'int64', double: 'double', bytes: 'bytes' };

const packageOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
const baseName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
const protoNameOf = (name: string): string => `k8s.io.${name.slice('io.k8s.'.length).replaceAll('-', '_')}`;
const typeNameOf = (proto: string): string =>
  `io.k8s.${proto.slice('k8s.io.'.length).replace('apiextensions_apiserver', 'apiextensions-apiserver').replace('kube_aggregator', 'kube-aggregator')}`;

/** Kinds of upstream's scheme that every group-version shares; OpenAPI lists two of them under each. */
const COMMON_KINDS = new Set(['DeleteOptions', 'WatchEvent']);

/** The table of all types that encoding.json names, in its order. */
export function buildTypes(sources: TypeSources): Map<string, TypeEntry> {
  const containers = inlinedIn(sources.encoding);
  return new Map(Object.keys(sources.encoding.types).map((name) => [name, buildType(name, sources, containers)]));
}

/** Inlined type → a type that has its fields in OpenAPI, where it has no schema of its own. */
function inlinedIn({ types }: EncodingFacts): Map<string, string> {
  const containers = new Map<string, string>();
  for (const [name, fields] of Object.entries(types)) {
    for (const field of fields) {
      const inlined = /^\.\.\.\w+:(.+)$/.exec(field)?.[1];
      if (inlined !== undefined && !containers.has(inlined)) containers.set(inlined, name);
    }
  }
  return containers;
}

function buildType(name: string, sources: TypeSources, containers: Map<string, string>): TypeEntry {
  const own = sources.schemas.get(name);
  let container: string | undefined = name;
  while (container !== undefined && !sources.schemas.has(container)) container = containers.get(container);
  const schema = container === undefined ? undefined : sources.schemas.get(container);
  const message = sources.messages[protoNameOf(name)];
  const fields = sources.encoding.types[name]!.flatMap((field) => fieldLines(field, name, schema, message));
  const kinds = kindsOf(name, own, sources.encoding);
  const unions = own?.['x-kubernetes-unions']?.map((union) => ({
    ...(union.discriminator !== undefined && { discriminator: union.discriminator }),
    fields: union['fields-to-discriminateBy'],
  }));
  return {
    ...(kinds.length > 0 && { kinds }),
    ...(own?.['x-kubernetes-map-type'] !== undefined && { mapType: own['x-kubernetes-map-type'] }),
    ...(unions && { unions }),
    ...(!message && { noProto: true as const }),
    fields,
  };
}

/** A kind is what OpenAPI says is one, or a type with TypeMeta in a package that has a group. */
function kindsOf(name: string, schema: OpenApiSchema | undefined, { groups, types }: EncodingFacts): string[] {
  const declared = schema?.['x-kubernetes-group-version-kind'];
  if (declared !== undefined && !COMMON_KINDS.has(baseName(name))) return declared.map(({ group, version, kind }) => `${group}/${version}/${kind}`);
  const group = packageOf(name) === META ? metaGroup(baseName(name)) : types[name]![0] === '...TypeMeta' ? groups[packageOf(name)] : undefined;
  return group === undefined ? [] : [`${group}/${baseName(packageOf(name))}/${baseName(name)}`];
}

/** Of meta/v1, upstream registers options, discovery, Status and WatchEvent in the core group. */
function metaGroup(kind: string): string | undefined {
  if (/^(Status|WatchEvent|API(Versions|Group|GroupList|ResourceList)|\w+Options)$/.test(kind)) return '';
  return kind.startsWith('PartialObjectMetadata') ? 'meta.k8s.io' : undefined;
}

function fieldLines(encoded: string, typeName: string, schema: OpenApiSchema | undefined, message: Record<string, ProtoField> | undefined): string[] {
  if (encoded === '...TypeMeta') return ['kind - string ?', 'apiVersion - string ?'];
  const inlined = /^\.\.\.(\w+):(.+)$/.exec(encoded);
  if (inlined) return [`...${inlined[1]} ${message?.[inlined[1]!]?.number ?? '-'} ${shortReference(inlined[2]!, typeName)}`];
  const [, name, flags, protoName, goType] = /^(.*?)([*?!]*)(?:=(\w+))?(?: (.+))?$/.exec(encoded)! as unknown as [
    string,
    string,
    string,
    ...(string | undefined)[],
  ];
  const property = schema?.properties?.[name];
  const proto = message?.[protoName ?? name];
  if (property === undefined && proto === undefined) throw new Error(`${typeName}.${name}: in neither OpenAPI nor protobuf`);
  const type = property === undefined ? typeOfProto(proto!, typeName) : typeOfProperty(property, proto, typeName);
  const required = schema?.required?.includes(name) === true;
  const words = [required ? `${name}!` : name, String(proto?.number ?? '-'), type];
  if (flags !== '') words.push(flags);
  if (goType !== undefined) words.push(`go=${goType}`);
  if (property !== undefined) words.push(...annotations(property, flags));
  return [words.join(' ')];
}

const shortReference = (reference: string, typeName: string): string => (packageOf(reference) === packageOf(typeName) ? baseName(reference) : reference);
const reference = (name: string, typeName: string): string => NAMED_SCALARS[name] ?? shortReference(name, typeName);

function typeOfProperty(property: OpenApiSchema, proto: ProtoField | undefined, typeName: string): string {
  const named = referenceOf(property);
  if (named !== undefined) return reference(named, typeName);
  if (property.type === 'array') return `${isWrappedList(proto) ? '<>' : '[]'}${typeOfProperty(property.items!, undefined, typeName)}`;
  if (property.type === 'object' && property.additionalProperties) {
    const wrapped = proto?.map !== undefined && baseName(proto.map[1]) === 'ExtraValue';
    return `{}${wrapped ? '<>string' : typeOfProperty(property.additionalProperties, undefined, typeName)}`;
  }
  if (property.type === 'string') return property.format === 'byte' ? 'bytes' : 'string';
  if (property.type === 'boolean') return 'boolean';
  if ((property.type === 'integer' || property.type === 'number') && property.format !== undefined) return property.format;
  throw new Error(`${typeName}: a property of unknown form ${JSON.stringify(property)}`);
}

const isWrappedList = (proto: ProtoField | undefined): boolean => proto?.type !== undefined && proto.type.includes('.') && !proto.repeated;

function typeOfProto(proto: ProtoField, typeName: string): string {
  if (proto.map) return `{}${protoItem(proto.map[1], typeName)}`;
  return `${proto.repeated ? '[]' : ''}${protoItem(proto.type!, typeName)}`;
}

function protoItem(type: string, typeName: string): string {
  const scalar = PROTO_SCALARS[type];
  if (scalar !== undefined) return scalar;
  return /\.(ExtraValue|Verbs)$/.test(type) ? '<>string' : reference(typeNameOf(type), typeName);
}

/** `key=value` words, `default=` with JSON, and at the end the enum, whose values may hold spaces. */
function annotations(property: OpenApiSchema, flags: string): string[] {
  const words: string[] = [];
  const add = (key: string, value: string | undefined): void => void (value !== undefined && words.push(`${key}=${value}`));
  add('list', property['x-kubernetes-list-type']);
  add('keys', property['x-kubernetes-list-map-keys']?.join(','));
  add('map', property['x-kubernetes-map-type']);
  add('patch', property['x-kubernetes-patch-strategy']);
  add('mergeKey', property['x-kubernetes-patch-merge-key']);
  if (property.default !== undefined && !isImpliedDefault(property.default, flags)) add('default', JSON.stringify(property.default));
  const values = property.enum ?? property.items?.enum ?? property.additionalProperties?.enum;
  if (values) words.push(`enum ${values.join('|')}`);
  return words;
}

/** The zero values that openapi-gen shows for fields that are always written, and `{}` of every struct. */
const isImpliedDefault = (value: unknown, flags: string): boolean =>
  value === '' || value === 0 || value === false ? flags === '' : typeof value === 'object';

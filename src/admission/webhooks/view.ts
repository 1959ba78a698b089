import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from '../../registry/definition.ts';
import { scaleEntries } from '../../registry/field-ownership.ts';
import { type SentObject, serverMade, writeThrough } from '../../registry/write.ts';
import { clone } from '../../schema/clone.ts';
import { decode } from '../../schema/decode.ts';
import { EmptyPaths } from '../../schema/empty-paths.ts';
import { normalize } from '../../schema/normalize.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { type ApiObject, type GroupVersionKind, apiVersionOf } from '../../api/api-object.ts';
import type { NumberLiterals } from '../../encoding/json-parser.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { PluginEnvironment } from '../plugin.ts';

/** How a write looks in one of the versions in which its resource is served. */
export interface AdmissionView {
  /** Of the resource that is written. */
  group: string;
  version: string;
  /** Of the object that is shown; a subresource's own (Scale, Binding) where it has one. */
  kind: GroupVersionKind;
  /** Somebody has to be asked to convert objects: `show` and `read` may take time, and throw ApiError. */
  isConverted: boolean;
  /** Upstream holds it as an Unstructured, whose times are text. */
  isUnstructured?: boolean;
  /** Never changes its argument; what it answers with may share parts of it. */
  show(object: SentObject): JsonObject | Promise<JsonObject>;
  /** The same while it may still be changed, where that is not what is shown of it afterwards. */
  showToChange?(object: SentObject): JsonObject;
  /** What an object that was shown and then changed is, with its version's defaults, as it would be shown. Throws DecodeError. */
  edited(shown: JsonObject, literals?: NumberLiterals): JsonObject;
  /** The same in the form that the write has. `current`: the write's object until now. */
  read(shown: JsonObject, current: ApiObject): SentObject | Promise<SentObject>;
}

export interface Views {
  /** As the client made it. */
  requested: AdmissionView;
  /** The same in all other versions that are served. */
  equivalents: readonly AdmissionView[];
}

/** Servers in one process may have switched off different versions of the same resource. */
type Served = Pick<PluginEnvironment, 'isServed'>;
const known = new WeakMap<Served, WeakMap<ResourceDefinition, Map<string, Views>>>();

export function viewsOf(server: Served, attributes: AdmissionAttributes): Views {
  const { definition, subresource, apiVersion = '' } = attributes;
  if (!definition) return { requested: bareView(attributes), equivalents: [] };
  const ofDefinition = madeOnce(
    madeOnce(known, server, () => new WeakMap<ResourceDefinition, Map<string, Views>>()),
    definition,
    () => new Map<string, Views>(),
  );
  const key = subresource === '' ? apiVersion : `${apiVersion} ${subresource}`;
  let views = ofDefinition.get(key);
  if (!views) ofDefinition.set(key, (views = makeViews(server, definition, apiVersion, subresource)));
  return views;
}

function madeOnce<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

function makeViews(server: Served, definition: ResourceDefinition, apiVersion: string, name: string): Views {
  const subresource = definition.subresources?.[name];
  const requested = definition.served.find(({ group, version }) => apiVersionOf(group, version) === apiVersion) ?? definition.served[0]!;
  const viewIn = (served: ServedVersion): AdmissionView => {
    if (subresource !== undefined && subresource.kind !== definition.kind) return subresourceView(served, subresource, definition);
    if (served.schema.custom === undefined) return objectView(served);
    return served === requested ? customView(served) : convertedView(served, definition);
  };
  // All versions of a definition are equivalent, whether they are served or not (customresource_handler.go, equivalentResourceRegistry).
  const isEquivalent = (served: ServedVersion): boolean =>
    definition.convert === undefined
      ? server.isServed(served.group, served.version, definition.plural)
      : name === '' || served.subresources?.includes(name) === true;
  const others = definition.served.filter((served) => served !== requested && isEquivalent(served));
  return { requested: viewIn(requested), equivalents: others.map(viewIn) };
}

function objectView(served: ServedVersion): AdmissionView {
  const { group, version, kind, schema } = served;
  return {
    group,
    version,
    kind: { group, version, kind },
    isConverted: false,
    show: ({ object, sentEmpty }) => typed({ group, version, kind }, schema, { object: served.fromStored?.(clone(object)) ?? object, sentEmpty }),
    edited: (shown, literals) => {
      const sent = decoded(schema, shown, literals);
      served.default?.(sent.object, sent);
      return typed({ group, version, kind }, schema, sent);
    },
    read: (shown, current) => {
      const { object, sentEmpty } = decoded(schema, shown);
      served.default?.(object, { sentEmpty });
      const stored = served.toStored?.(object, { sentEmpty }) ?? object;
      return { object: { ...stored, kind: current.kind, apiVersion: current.apiVersion }, sentEmpty };
    },
  };
}

/** A custom object in the version that its client speaks: as it is, since what a webhook adds is pruned only when it is stored. */
function customView(served: ServedVersion): AdmissionView {
  const { group, version, kind, schema } = served;
  const typeFirst = ({ kind: _kind, apiVersion: _apiVersion, ...fields }: JsonObject): JsonObject => ({
    kind,
    apiVersion: apiVersionOf(group, version),
    ...fields,
  });
  return {
    group,
    version,
    kind: { group, version, kind },
    isConverted: false,
    isUnstructured: true,
    show: ({ object }) => typeFirst(object as unknown as JsonObject),
    edited: (shown) => {
      const metadata = decoded(schema, shown).object.metadata as unknown as JsonObject;
      const object = typeFirst({ ...clone(shown), metadata });
      served.default?.(object as unknown as ApiObject);
      return object;
    },
    read: (shown) => serverMade(shown as unknown as ApiObject),
  };
}

/** The same in another version. */
function convertedView(served: ServedVersion, { version, group, convert }: ResourceDefinition): AdmissionView {
  const own = customView(served);
  const [apiVersion, requestedVersion] = [apiVersionOf(served.group, served.version), apiVersionOf(group, version)];
  return {
    ...own,
    isConverted: true,
    show: ({ object }) => {
      const converted = convert!(object, apiVersion);
      return converted instanceof Promise ? converted.then((one) => own.show(serverMade(one))) : own.show(serverMade(converted));
    },
    read: (shown) => {
      const converted = convert!(shown as unknown as ApiObject, requestedVersion);
      return converted instanceof Promise ? converted.then(serverMade) : serverMade(converted);
    },
  };
}

/** Its kind is the same in all versions of the resource. */
function subresourceView({ group, version }: ServedVersion, subresource: Subresource, definition: ResourceDefinition): AdmissionView {
  const { schema } = subresource;
  const kind = { group: subresource.group, version: subresource.version, kind: subresource.kind };
  const common = {
    group,
    version,
    kind,
    isConverted: false,
    edited: (shown: JsonObject, literals?: NumberLiterals) => typed(kind, schema, decoded(schema, shown, literals)),
  };
  if (subresource.read && subresource.write) return { ...common, ...scaleView(kind, subresource, definition) };
  return {
    ...common,
    show: (object) => typed(kind, schema, object),
    read: (shown, current) => {
      const { object, sentEmpty } = decoded(schema, shown);
      return { object: { ...object, kind: current.kind, apiVersion: current.apiVersion }, sentEmpty };
    },
  };
}

/** A scale has its owners with it only as long as it may change (apiextensions-apiserver customresource/etcd.go scaleUpdatedObjectInfo, toScaleUpdateValidation). */
function scaleView(kind: GroupVersionKind, subresource: Subresource, definition: ResourceDefinition): Pick<AdmissionView, 'show' | 'showToChange' | 'read'> {
  const { schema } = subresource;
  const read = (subresource.readWritten ?? subresource.read!).bind(subresource);
  const readToChange = (subresource.readToWrite ?? subresource.read!).bind(subresource);
  return {
    show: ({ object }) => typed(kind, schema, serverMade(read(object))),
    showToChange: ({ object, through }) => {
      if (through) return typed(kind, schema, serverMade({ ...through, metadata: { ...through.metadata, namespace: object.metadata.namespace } } as ApiObject));
      const scale = readToChange(object);
      const managedFields = scaleEntries(definition, subresource, object);
      return typed(kind, schema, serverMade({ ...scale, metadata: { ...scale.metadata, ...(managedFields && { managedFields }) } }));
    },
    read: (shown, current) => writeThrough(subresource, clone(current), decoded(schema, shown)),
  };
}

const bareView = ({ group, version, kind }: AdmissionAttributes): AdmissionView => ({
  group,
  version,
  kind,
  isConverted: false,
  show: ({ object }) => object as unknown as JsonObject,
  edited: (shown) => shown,
  read: (shown) => serverMade(shown as unknown as ApiObject),
});

function typed({ group, version, kind }: GroupVersionKind, schema: ObjectSchema, { object, sentEmpty }: SentObject): JsonObject {
  // Fields that are written even where there is nothing are shown as empty as they were sent.
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = sentEmpty.restoredNullsIn(normalize(schema, object as unknown as JsonObject));
  return { kind, apiVersion: apiVersionOf(group, version), ...fields };
}

function decoded(schema: ObjectSchema, shown: JsonObject, literals?: NumberLiterals): SentObject {
  const sentEmpty = new EmptyPaths();
  const object = decode(schema, shown, literals && { errors: [], literals }, sentEmpty) as unknown as ApiObject;
  object.metadata ??= {};
  return { object, sentEmpty };
}

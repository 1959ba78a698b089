import { normalize } from '../schema/normalize.ts';
import type { CacheEntry, ObjectCache } from '../storage/cache/cache.ts';
import type { StoredCodec } from '../storage/codec.ts';
import type { Engine } from '../storage/engine.ts';
import { type ApiObject, type GroupResource } from '../util/api-object.ts';
import { badRequest, tooLargeForStore } from '../util/errors.ts';
import type { JsonObject } from '../util/json-types.ts';
import { demandObjectPath } from '../util/object-path.ts';
import type { Admission, AdmissionAttributes, AdmissionOperation } from './admission.ts';
import type { ResourceDefinition } from './definition.ts';
import type { RequestContext } from './request-context.ts';

/** What the verbs of one resource share: its definition, where it is kept, and whom to ask. */
export interface StoreParts<T extends ApiObject = ApiObject> {
  definition: ResourceDefinition<T>;
  engine: Engine;
  cache: ObjectCache;
  /** The cache's own. */
  codec: StoredCodec;
  /** `/registry/configmaps/` */
  keyPrefix: string;
  admission: Admission;
  /** Whether deletions may leave work to a garbage collector by finalizers (--enable-garbage-collector). */
  collectsGarbage: boolean;
  /** --delete-collection-workers */
  deleteWorkers: number;
  now: () => Date;
}

export const groupResource = (definition: ResourceDefinition): GroupResource => ({ group: definition.group, resource: definition.plural });

/** The kind as errors about an object name it. */
export const groupKind = (definition: ResourceDefinition): { group: string; kind: string } => ({
  group: definition.storedGroup ?? definition.group,
  kind: definition.kind,
});

export function keyOf({ definition, keyPrefix }: StoreParts, namespace: string, name: string): string {
  demandObjectPath(definition.namespaced ? namespace : undefined, name);
  return definition.namespaced ? `${keyPrefix}${namespace}/${name}` : keyPrefix + name;
}

/** The newest entry of a key; waits where the cache may lag behind the store. */
export async function currentEntry({ cache }: StoreParts, key: string): Promise<CacheEntry | undefined> {
  const fresh = cache.freshen();
  if (fresh) await fresh;
  return cache.get(key);
}

/** Fields in upstream's order, zero values as upstream writes them: the form in which an object is stored, sent and compared. */
export function canonical<T extends ApiObject>({ definition }: StoreParts<T>, object: T): T {
  return normalize(definition.schema, object as unknown as JsonObject) as unknown as T;
}

/** A dry run answers with what would be read. */
export function asRead<T extends ApiObject>(parts: StoreParts<T>, stored: T): T {
  if (!parts.definition.defaultsOnRead) return stored;
  parts.definition.served[0]!.default?.(stored);
  return canonical(parts, stored);
}

/** Patches could make an object grow without end. Upstream's end is etcd's: 1.5 MiB, of protobuf, which is about half as long. */
const MAX_STORED_BYTES = 3 * 1024 * 1024;

/** The stored bytes of a canonical object: without its resourceVersion, which the store gives it. */
export function encodeStored({ codec }: StoreParts, object: ApiObject): Buffer {
  const bytes = codec.encode(object);
  if (bytes.length > MAX_STORED_BYTES) throw tooLargeForStore();
  return bytes;
}

/** The namespace of an object is its request's; a cluster-scoped one has none. */
export function placeInNamespace(definition: ResourceDefinition, object: ApiObject, namespace: string): void {
  const given = object.metadata.namespace ?? '';
  if (!definition.namespaced) delete object.metadata.namespace;
  else if (given === '') object.metadata.namespace = namespace;
  else if (given !== namespace) throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

export interface WriteCall {
  operation: AdmissionOperation;
  subresource: string;
  namespace: string;
  name: string;
  object: ApiObject | undefined;
  oldObject: ApiObject | undefined;
  options: object;
  dryRun: boolean;
  /** The group-version that the client speaks. */
  apiVersion: string | undefined;
}

export function admissionAttributes({ definition }: StoreParts, context: RequestContext, call: WriteCall): AdmissionAttributes {
  const { group, version, kind, plural } = definition;
  const { operation, subresource, namespace, name, object, oldObject, options, dryRun, apiVersion } = call;
  const where = { group, version, kind };
  // Written out: spread here, the same took V8 ten microseconds, since it had to find a shape for every step.
  return {
    operation,
    group,
    version,
    resource: plural,
    subresource,
    kind: where,
    namespace,
    name,
    object,
    oldObject,
    options,
    dryRun,
    user: context.user,
    context,
    definition: definition as ResourceDefinition,
    apiVersion,
    reinvocation: undefined,
  };
}

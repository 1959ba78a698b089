import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import type { EndpointMetrics } from './endpoint-metrics.ts';
import type { ServedVersion, Subresource } from '../registry/definition.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { Exchange, ResponseStream } from '../serving/exchange.ts';
import { LIMITS } from '../util/limits.ts';

/**
 * What a resource request is about: found by the server from the request's group, version, resource and subresource. Paths that the resource does
 * not have (in the wrong scope, too long) never come here.
 */
export interface ResourceTarget {
  store: ResourceStore;
  /** The group-version in the path: what the client speaks. */
  served: ServedVersion;
  /** Absent where the path names none. */
  subresource?: Subresource;
  /** A custom resource: no protobuf, no strategic merge, and list items carry their kind and apiVersion. */
  isCustom: boolean;
  environment: EndpointEnvironment;
}

/** What all resources of a server share. */
export interface EndpointEnvironment {
  /** Types by kind, also those that this server knows but does not serve; undefined for a kind nobody knows. */
  schemaOfKind(group: string, version: string, kind: string): ObjectSchema | undefined;
  /** A watch without timeoutSeconds ends after a random time between this and twice this (--min-request-timeout). */
  minRequestTimeoutMs: number;
  /** Whether watches may begin with the present state when asked (WatchList); true where absent. */
  hasWatchList?: boolean;
  /** Whether shards of a collection may be asked for (ShardedListAndWatch); not where absent. */
  hasShards?: boolean;
  /** Whether CBOR is spoken (CBORServingAndStorage); not where absent. */
  hasCbor?: boolean;
  /** Asked whether someone may delete what can not be read (AllowUnsafeMalformedObjectDeletion); where absent, that option is dropped. */
  unsafeDeletes?: { authorize(attributes: AuthorizationAttributes): Promise<Decision> | Decision };
  /** Watches over WebSockets; none where absent. */
  webSockets?: WebSockets;
  /** Absent where nothing is counted. */
  metrics?: EndpointMetrics;
  /** In [0, 1). */
  random(): number;
  now(): Date;
}

export interface WebSockets {
  /** Whether the client wants its answer over a WebSocket. */
  isAsked(exchange: Exchange): boolean;
  /** Answers with a WebSocket on which each chunk is a message, of text or of bytes. Undefined where the handshake was refused, and that was answered. */
  open(exchange: Exchange, isText: boolean): ResponseStream | undefined;
}

export const BODY_LIMIT_BYTES = LIMITS.bodyBytes;

/** The group, version, kind and schema of what clients read and write here: the subresource's own kind where it has one. */
export interface ClientKind {
  group: string;
  version: string;
  kind: string;
  schema: ObjectSchema;
}

export const clientKindOf = ({ served, subresource }: ResourceTarget): ClientKind => subresource ?? served;

/** Whether clients see stored objects as they are: no conversion, no subresource of another kind. */
export const isStoredForm = ({ served, subresource }: ResourceTarget): boolean => served.fromStored === undefined && subresource?.read === undefined;

/** The schema of a kind of meta.k8s.io that every server must know. PartialObjectMetadata itself is the same in both versions. */
export function metaSchema({ schemaOfKind }: EndpointEnvironment, version: string, kind: string): ObjectSchema {
  const schema = schemaOfKind('meta.k8s.io', version, kind) ?? schemaOfKind('meta.k8s.io', 'v1', kind) ?? schemaOfKind('', 'v1', kind);
  if (schema === undefined) throw new Error(`meta.k8s.io/${version} ${kind} has no schema`);
  return schema;
}

import { createHash } from 'node:crypto';
import { CBOR_TYPE, type OutputForm, JSON_TYPE, PROTOBUF_TYPE, negotiateOutput, parseAccept } from '../../endpoints/negotiation.ts';
import type { Handler, ServerRequest } from '../../endpoints/request.ts';
import { respond } from '../../endpoints/respond.ts';
import type { ApiVersion } from '../../registry/api-version.ts';
import { encodeCbor } from '../../schema/cbor-encode.ts';
import { encodeProtobufObject } from '../../schema/protobuf.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { parseApiVersion } from '../../api/api-object.ts';
import { genericMethodNotAllowed, genericNotFound } from '../../api/errors.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { ListedVersion, RemoteVersion } from '../remote-apis.ts';
import { aggregatedDiscovery } from './aggregated.ts';
import { type GroupDiscovery, type PeerGroups, mergePeers } from './merge-peers.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions, groupVersionsByPriority } from './legacy.ts';

export interface DiscoveryOptions {
  /** What is installed now, over all servers of the chain. A new array whenever that has changed, so that documents are made once. */
  installed(): readonly ApiVersion[];
  /** What other servers serve, behind this one; nothing of it is among `installed`. A new array whenever it has changed. */
  remote(): readonly RemoteVersion[];
  /** What APIServices say is served here: the lists of groups follow them (`RemoteApis.registered`). A new array whenever it has changed. */
  registered?(): readonly ListedVersion[] | undefined;
  /** Types by kind: discovery's own. */
  schemaOfKind(group: string, version: string, kind: string): ObjectSchema | undefined;
  /** Whether the hashes by which storage versions are told are listed (StorageVersionHash); true where absent. */
  hasStorageVersionHashes?: boolean;
  /** Whether the resources of a group-version are also listed in CBOR (CBORServingAndStorage); not where absent. */
  hasCbor?: boolean;
  /** Where the making of aggregated documents and requests for them are counted; nowhere where absent. */
  counters?: DiscoveryCounters;
  /** What other API servers on the same store serve; absent where nobody asks them. */
  peers?: DiscoveredPeers | undefined;
  /** `host:port` at which clients reach this server. */
  serverAddress(): string;
}

/** apiserver/pkg/endpoints/discovery/aggregated/metrics.go */
export interface DiscoveryCounters {
  /** An aggregated document was made anew. */
  aggregated(): void;
  /** A client asked for what this server alone serves. */
  noPeerRequested(): void;
  /** A client asked for what all servers serve; that document was there, or had to be made. */
  peersRequested(wasCached: boolean): void;
}

export interface DiscoveredPeers {
  /** This server's name among them. */
  identity: string;
  /** A new map whenever something in it has changed. */
  groups(): PeerGroups;
}

const AGGREGATOR_GROUP = 'apiregistration.k8s.io';

const OFFER = { isResource: false, isCustom: false, mayStream: false };

/** `/api`, `/apis` and what stands right below them, in the legacy and the aggregated form; other paths go on to `next`. */
export function withDiscovery(options: DiscoveryOptions, next: Handler): Handler {
  let versions: readonly ApiVersion[] | undefined;
  let remoteVersions: readonly RemoteVersion[] | undefined;
  let registeredVersions: readonly ListedVersion[] | undefined;
  let documents = new Documents([], [], undefined, options);

  return (request) => {
    const { info } = request;
    if (info.isResourceRequest || !info.path.startsWith('/api')) return next(request);
    const installed = options.installed();
    const remote = options.remote();
    const registered = options.registered?.();
    if (installed !== versions || remote !== remoteVersions || registered !== registeredVersions) {
      versions = installed;
      remoteVersions = remote;
      registeredVersions = registered;
      documents = new Documents(installed, remote, registered, options);
    }
    const path = info.path.endsWith('/') ? info.path.slice(0, -1) : info.path;
    const isRead = request.exchange.method === 'GET';
    // Upstream wraps `/apis` itself: `/apis/` knows the legacy form alone.
    if (info.path === '/apis' || (path === '/api' && isRead)) {
      const wanted = aggregatedType(request.exchange.headers.accept);
      if (wanted) {
        if (wanted.profile === 'nopeer') options.counters?.noPeerRequested();
        else if (options.peers && path === '/apis') return serveAggregated(request, documents.withPeers(options.peers, wanted.mediaType), wanted.mediaType);
        return serveAggregated(request, documents.aggregated(path === '/api' ? 'core' : 'groups', wanted.mediaType), wanted.mediaType);
      }
    }
    const document = documents.legacy(path);
    if (!document) {
      if (documents.isOnOurs(path)) throw genericNotFound();
      return next(request);
    }
    const isBehindRouter = documents.isBehindRouter(path);
    if (isBehindRouter && !isRead) throw genericMethodNotAllowed();
    const hasCbor = options.hasCbor && isBehindRouter && document['kind'] === 'APIResourceList';
    const form = negotiateOutput(request.exchange.headers.accept, { ...OFFER, isUnrouted: !isBehindRouter, hasCbor });
    return respond(request, 200, form, documents.encode(document, form), () => documents.encode(document, { ...form, mediaType: JSON_TYPE }));
  };
}

interface AggregatedType {
  mediaType: typeof JSON_TYPE | typeof PROTOBUF_TYPE;
  /** `nopeer`: without what other servers of the same cluster serve. */
  profile: string | undefined;
}

/** In which form the client wants the aggregated document; undefined where it prefers the legacy one, or knows only old forms. */
function aggregatedType(accept: string | undefined): AggregatedType | undefined {
  for (const { type, subtype, params } of parseAccept(accept ?? '')) {
    const mediaType = `${type}/${subtype}`;
    if (!params.has('as')) return undefined;
    if (params.get('as') !== 'APIGroupDiscoveryList' || params.get('g') !== 'apidiscovery.k8s.io' || params.get('v') !== 'v2') continue;
    if (mediaType === JSON_TYPE || mediaType === PROTOBUF_TYPE) return { mediaType, profile: params.get('profile') };
  }
  return undefined;
}

function serveAggregated({ exchange }: ServerRequest, { bytes, etag }: Tagged, mediaType: string): void {
  const headers = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (exchange.headers['if-none-match'] === etag) return exchange.respond(304, headers);
  exchange.respond(200, { ...headers, 'content-type': `${mediaType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList` }, bytes);
}

interface Tagged {
  bytes: Buffer;
  etag: string;
}

/** The documents of one state of the installed versions, each made when it is first asked for. */
class Documents {
  readonly #versions: readonly ApiVersion[];
  /** With those that other servers serve. */
  readonly #all: readonly (ApiVersion | RemoteVersion)[];
  /** What the lists of groups show. */
  readonly #listed: readonly ListedVersion[];
  readonly #options: DiscoveryOptions;
  readonly #legacy = new Map<string, JsonObject | undefined>();
  readonly #aggregated = new Map<string, Tagged>();
  #merged: { peers: PeerGroups; tagged: Map<string, Tagged> } | undefined;

  constructor(versions: readonly ApiVersion[], remote: readonly RemoteVersion[], registered: readonly ListedVersion[] | undefined, options: DiscoveryOptions) {
    this.#versions = versions;
    this.#all = [...versions, ...remote];
    this.#listed = registered === undefined ? this.#all : [...versions.filter(isUnregistered), ...registered.filter(isNotCustom(versions)), ...remote];
    this.#options = options;
  }

  /** `path` without a slash at its end. */
  legacy(path: string): JsonObject | undefined {
    const known = this.#legacy.get(path);
    if (known) return known;
    const document = this.#make(path);
    if (document) this.#legacy.set(path, document);
    return document;
  }

  /**
   * Upstream serves the list of core versions, the aggregator's own group, and the lists of built-in resources through a router: they are read only, and the
   * last offered in CBOR too.
   */
  isBehindRouter(path: string): boolean {
    const [, prefix, first, second] = path.split('/');
    if (path === '/api' || path === `/apis/${AGGREGATOR_GROUP}`) return true;
    const found = prefix === 'api' ? this.#version('', first) : this.#version(first, second);
    return found !== undefined && isBuiltIn(found);
  }

  /** Whether a group-version that is not there would be the router's to answer for: it knows the group. */
  isOnOurs(path: string): boolean {
    const [, prefix, first, second, ...more] = path.split('/');
    if (prefix === 'api') return first !== undefined && second === undefined;
    return prefix === 'apis' && second !== undefined && more.length === 0 && this.#versions.some((version) => version.group === first && isBuiltIn(version));
  }

  #make(path: string): JsonObject | undefined {
    const [, prefix, first, second, ...more] = path.split('/');
    if (more.length > 0) return undefined;
    if (prefix === 'api') {
      if (first === undefined) return apiVersions(this.#versions, this.#options.serverAddress());
      return second === undefined ? this.#resourceList('', first) : undefined;
    }
    if (prefix !== 'apis') return undefined;
    if (first === undefined) return apiGroupList(this.#listed);
    if (second !== undefined) return this.#resourceList(first, second);
    // A group without an APIService is still the server's that has it (kube-aggregator/pkg/apiserver/handler_apis.go).
    const versions = groupVersionsByPriority(this.#listed).get(first) ?? groupVersionsByPriority(this.#all).get(first);
    return versions && apiGroup(versions);
  }

  #resourceList(group: string, version: string): JsonObject | undefined {
    const found = this.#version(group, version);
    return found && apiResourceList(found, this.#options.hasStorageVersionHashes ?? true);
  }

  #version(group: string | undefined, version: string | undefined): ApiVersion | undefined {
    return this.#versions.find((candidate) => candidate.group === group && candidate.version === version);
  }

  encode(document: JsonObject, { mediaType }: OutputForm): Buffer {
    if (mediaType === CBOR_TYPE) return encodeCbor(document, undefined);
    return mediaType === PROTOBUF_TYPE ? this.#encodeProtobuf(document) : Buffer.from(JSON.stringify(document));
  }

  aggregated(part: 'core' | 'groups', mediaType: typeof JSON_TYPE | typeof PROTOBUF_TYPE): Tagged {
    const key = `${part} ${mediaType}`;
    const known = this.#aggregated.get(key);
    if (known) return known;
    const document = aggregatedDiscovery(this.#all, part);
    // In the second form it is the same document.
    if (![...this.#aggregated.keys()].some((made) => made.startsWith(part))) this.#options.counters?.aggregated();
    const tagged = this.#tag(document, mediaType);
    this.#aggregated.set(key, tagged);
    return tagged;
  }

  /** The document of `/apis` with what other servers serve. */
  withPeers({ identity, groups }: DiscoveredPeers, mediaType: AggregatedType['mediaType']): Tagged {
    const peers = groups();
    const isCached = this.#merged?.peers === peers;
    if (!isCached) this.#merged = { peers, tagged: new Map() };
    this.#options.counters?.peersRequested(isCached);
    if (peers.size === 0) return this.aggregated('groups', mediaType);
    const { tagged } = this.#merged!;
    if (!tagged.has(mediaType)) {
      const document = aggregatedDiscovery(this.#all, 'groups');
      tagged.set(mediaType, this.#tag({ ...document, items: [...mergePeers(identity, document['items'] as GroupDiscovery[], peers)] }, mediaType));
    }
    return tagged.get(mediaType)!;
  }

  #tag(document: JsonObject, mediaType: AggregatedType['mediaType']): Tagged {
    const json = Buffer.from(JSON.stringify(document));
    const etag = `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`;
    return { etag, bytes: mediaType === JSON_TYPE ? json : this.#encodeProtobuf(document) };
  }

  #encodeProtobuf(document: JsonObject): Buffer {
    // APIVersions and the core group's list name no version of their own: they are older than that field, and the envelope then has an empty one.
    const object = { ...document, kind: String(document['kind']), apiVersion: String(document['apiVersion'] ?? '') };
    const { group, version } = parseApiVersion(object.apiVersion || 'v1')!;
    return encodeProtobufObject(this.#options.schemaOfKind(group, version, object.kind)!, object);
  }
}

/** No APIService names the aggregator's own group, and those of definitions follow them: what is installed counts. */
const isUnregistered = (version: ApiVersion): boolean => version.group === AGGREGATOR_GROUP || !isBuiltIn(version);

const isNotCustom = (versions: readonly ApiVersion[]): ((listed: ListedVersion) => boolean) => {
  const unregistered = new Set(versions.filter(isUnregistered).map(({ group, version }) => `${group}/${version}`));
  return ({ group, version }) => !unregistered.has(`${group}/${version}`);
};

const isBuiltIn = ({ resources }: ApiVersion): boolean => ![...resources.values()].some(({ isCustom }) => isCustom);

import type { Handler } from '../endpoints/request.ts';
import type { JsonObject } from '../encoding/json-types.ts';

/** A group-version that another server serves, behind this one. */
export interface RemoteVersion {
  group: string;
  version: string;
  groupPriorityMinimum: number;
  versionPriority: number;
  /** apidiscovery.k8s.io/v2 APIVersionDiscovery, with nothing in it that the type does not have. */
  discovery: JsonObject;
}

/** What lists of groups need to know of a version, whoever serves it. */
export type ListedVersion = Pick<RemoteVersion, 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'>;

/** An OpenAPI v3 document that another server has: where its own index says it is, with its hash; or the document itself, made from the server's of v2. */
export type RemoteDocument = { serverRelativeUrl: string; serve: Handler } | { document: JsonObject };

/** What other servers add to the documents of this one. Each answer is the same object until something in it has changed. */
export interface RemoteApis {
  /** They come before what the chain itself has of the same name. */
  versions(): readonly RemoteVersion[];
  /** Those that an APIService says are served here, ranked as it says; undefined until the chain has registered its own. */
  registered(): readonly ListedVersion[] | undefined;
  /** OpenAPI v2 documents, in the order in which they are merged. */
  openApiV2(): readonly JsonObject[];
  /** By path, without the leading slash: `apis/metrics.k8s.io/v1beta1`. */
  openApiV3(): ReadonlyMap<string, RemoteDocument>;
}

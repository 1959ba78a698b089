import { equalJson } from '../../encoding/json-equal.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { mergeOrder } from '../../util/merge-order.ts';

/* apidiscovery.k8s.io/v2 of several servers in one document (apiserver/pkg/endpoints/discovery/aggregated/peer_aggregated_handler.go, KEP-4020). */

/** APIGroupDiscovery, as `aggregatedDiscovery` makes it. */
export type GroupDiscovery = JsonObject & { metadata: { name?: string }; versions: VersionDiscovery[] };
export type VersionDiscovery = JsonObject & { version: string; resources?: ResourceDiscovery[] };
export type ResourceDiscovery = JsonObject & { resource: string; verbs: string[]; subresources?: SubresourceDiscovery[] };
type SubresourceDiscovery = JsonObject & { subresource: string };

/** What other servers of the cluster serve, by their identity. */
export type PeerGroups = ReadonlyMap<string, readonly GroupDiscovery[]>;

/** The groups of all servers. Of what several describe, the first by identity counts. */
export function mergePeers(identity: string, local: readonly GroupDiscovery[], peers: PeerGroups): readonly GroupDiscovery[] {
  if (peers.size === 0) return local;
  const lists = [...new Map([...peers, [identity, local]])].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, groups]) => groups);
  return mergeNamed(lists, ({ metadata }) => metadata.name ?? '', mergeGroups);
}

const mergeGroups = (a: GroupDiscovery, b: GroupDiscovery): GroupDiscovery => ({
  ...a,
  versions: mergeNamed([a.versions, b.versions], ({ version }) => version, mergeVersions),
});

function mergeVersions(a: VersionDiscovery, b: VersionDiscovery): VersionDiscovery {
  const resources = mergeNamed([a.resources ?? [], b.resources ?? []], ({ resource }) => resource, mergeResources);
  return resources.length > 0 ? { ...a, resources } : a;
}

/** Where they differ, what either of them can do. */
function mergeResources(a: ResourceDiscovery, b: ResourceDiscovery): ResourceDiscovery {
  if (equalJson(a, b)) return a;
  const verbs = [...new Set([...a.verbs, ...b.verbs])].toSorted();
  const byName = new Map([...(a.subresources ?? []), ...(b.subresources ?? [])].map((subresource) => [subresource.subresource, subresource]));
  const subresources = [...byName].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, subresource]) => subresource);
  return { ...a, verbs, ...(subresources.length > 0 && { subresources }) };
}

function mergeNamed<T>(lists: readonly (readonly T[])[], nameOf: (item: T) => string, merge: (a: T, b: T) => T): T[] {
  const byName = new Map<string, T>();
  for (const list of lists) {
    for (const item of list) {
      const known = byName.get(nameOf(item));
      byName.set(nameOf(item), known === undefined ? item : merge(known, item));
    }
  }
  return mergeOrder(lists.map((list) => list.map(nameOf))).map((name) => byName.get(name)!);
}

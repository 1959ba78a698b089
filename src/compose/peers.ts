import { hostname } from 'node:os';
import { ExcludedVersions } from '../aggregator/peers/excluded-versions.ts';
import { PeerDiscovery } from '../aggregator/peers/peer-discovery.ts';
import { PeerProxy } from '../aggregator/peers/peer-proxy.ts';
import { serverIdentity } from '../api/server-identity.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Lease } from '../apis/facts/types/coordination-v1.ts';
import { queueMetricsOf } from '../controllers/work-queue-metrics.ts';
import type { RequestInfo } from '../endpoints/request.ts';
import type { DiscoveredPeers } from '../server/discovery/handler.ts';
import type { Filter } from '../server/filters/filter.ts';
import type { GenericServer } from '../server/generic-server.ts';
import type { PostStartHook } from '../server/hooks.ts';
import { onAbort } from '../util/on-abort.ts';
import type { Foundation } from './foundation.ts';
import { isInstalled } from './served-resources.ts';
import type { CreatedServers } from './servers.ts';

/** All servers have it in their certificates, wherever they are reached. */
const SERVER_NAME = 'kubernetes.default.svc';

export interface OpenPeers {
  filter: Filter;
  discovery: DiscoveredPeers;
  hooks: PostStartHook[];
}

/** --peer-ca-file: what only other servers on the same store serve is asked of them (pkg/controlplane/apiserver/peer.go, KEP-4020). */
export function openPeers(
  { registry, client, egress, files, stop, report, closers }: Foundation,
  { records, aggregator, kube, extensions }: CreatedServers,
): OpenPeers {
  const identity = serverIdentity(hostname(), 'kube-apiserver');
  const addressOf = (other: string) => records.peerEndpoints.addressOf(other);
  const proxy = new PeerProxy({
    tls: () => ({ serverName: SERVER_NAME, caPem: files.peerCa?.current, clientCertificate: files.proxyClient?.current }),
    dial: egress?.controlplane,
    addressOf,
    isServedHere: servedHere([aggregator, kube, extensions]),
    metrics: registry,
  });
  files.proxyClient?.onChange(() => proxy.refreshTls());
  files.peerCa?.onChange(() => proxy.refreshTls());
  closers.add(() => proxy.close());
  const excluded = new ExcludedVersions(() => peers.invalidate());
  const syncErrors = registry.family('apiserver_peer_discovery_sync_errors_total');
  const peers = new PeerDiscovery({
    identity,
    excluded,
    addressOf,
    fetch: (address, path) => proxy.fetch(address, path),
    onError: (type) => syncErrors.with(type).inc(),
    signal: stop,
    report,
    queueMetrics: queueMetricsOf(registry),
  });
  const leases = client.resource<Lease>('coordination.k8s.io', 'leases').informer;
  const definitions = client.resource<CustomResourceDefinition>('apiextensions.k8s.io', 'customresourcedefinitions').informer;
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices').informer;
  let exclusion: Promise<void> | undefined;
  const follow = (signal: AbortSignal): Promise<void> =>
    (exclusion ??= excluded.follow(definitions, apiServices).then((stopFollowing) => void onAbort(signal, stopFollowing)));
  // Nothing is sent to a peer before it is known what is not one's.
  const startWorkers = async (signal: AbortSignal): Promise<void> => {
    await Promise.all([leases.synced, follow(signal)]);
    onAbort(signal, peers.start(leases));
  };
  return {
    filter: proxy.filter(peers),
    discovery: { identity, groups: () => peers.groups() },
    hooks: [
      { name: 'mixed-version-proxy-handler', run: follow },
      // What this server has is known at every moment.
      { name: 'local-discovery-cache-sync', run: () => Promise.resolve() },
      { name: 'peer-discovery-workers', run: startWorkers },
    ],
  };
}

/** By any path: what is asked for in a namespace and has none is this server's to refuse. */
function servedHere(servers: readonly GenericServer[]): (info: RequestInfo) => boolean {
  return (info) =>
    isInstalled(servers, info) ||
    servers.some(({ versions }) =>
      versions.some(({ group, version, resources }) => group === info.apiGroup && version === info.apiVersion && resources.has(info.resource)),
    );
}

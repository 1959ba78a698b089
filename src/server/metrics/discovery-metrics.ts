import type { MetricRegistry } from '../../metrics/registry.ts';
import type { DiscoveryCounters } from '../discovery/handler.ts';

/** apiserver/pkg/endpoints/discovery/aggregated/metrics.go */
export function registerDiscoveryCounters(registry: MetricRegistry): DiscoveryCounters {
  const aggregations = registry.family('aggregator_discovery_aggregation_count_total').with();
  const noPeerRequests = registry.family('aggregator_discovery_nopeer_requests_total').with();
  const cacheHits = registry.family('aggregator_discovery_peer_aggregated_cache_hits_total').with();
  const cacheMisses = registry.family('aggregator_discovery_peer_aggregated_cache_misses_total').with();
  return {
    aggregated: () => aggregations.inc(),
    noPeerRequested: () => noPeerRequests.inc(),
    peersRequested: (wasCached) => (wasCached ? cacheHits : cacheMisses).inc(),
  };
}

import type { MetricRegistry } from '../../metrics/registry.ts';
import type { KonnectivityObserver } from './konnectivity.ts';
import { PACKET_NAMES } from './packets.ts';

/** konnectivity_network_proxy_client_* (konnectivity-client/pkg/client/metrics). */
export function registerTunnelMetrics(registry: MetricRegistry): KonnectivityObserver {
  const packets = registry.family('konnectivity_network_proxy_client_stream_packets_total');
  const errors = registry.family('konnectivity_network_proxy_client_stream_errors_total');
  const failures = registry.family('konnectivity_network_proxy_client_dial_failure_total');
  const connections = registry.family('konnectivity_network_proxy_client_client_connections');
  return {
    // What is no packet that anybody knows is counted under one name, whatever number it has.
    packet: (segment, type) => packets.with(segment, PACKET_NAMES[type] ?? 'Unknown').inc(),
    streamFailed: (code) => errors.with('to_client', code, 'Unknown').inc(),
    stateChanged(before, after) {
      if (before) connections.with(before).dec();
      if (after) connections.with(after).inc();
    },
    dialFailed: (reason) => failures.with(reason).inc(),
  };
}

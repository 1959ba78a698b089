import { counter, gauge, histogram } from '../declaration.ts';

/** The aggregator, and ways to other servers (kube-aggregator, apiserver/pkg/server/egressselector/metrics, apiserver/pkg/util/x509metrics). */
export const aggregatorMetrics = {
  aggregator_discovery_aggregation_count_total: counter('ALPHA', 'How often aggregated discovery was made anew.'),
  aggregator_discovery_nopeer_requests_total: counter('ALPHA', 'Requests for aggregated discovery of this server alone.'),
  aggregator_discovery_peer_aggregated_cache_hits_total: counter('ALPHA', 'Requests for aggregated discovery of all servers that a cache answered.'),
  aggregator_discovery_peer_aggregated_cache_misses_total: counter('ALPHA', 'Requests for aggregated discovery of all servers that no cache answered.'),
  aggregator_unavailable_apiservice: gauge('ALPHA', 'Gauge of APIServices which are marked as unavailable broken down by APIService name.', ['name']),
  aggregator_unavailable_apiservice_total: counter(
    'ALPHA',
    'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    ['name', 'reason'],
  ),
  apiserver_egress_dialer_dial_duration_seconds: histogram(
    'ALPHA',
    'Seconds that connections through a proxy took to stand, by its protocol and the transport to it.',
    [0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
    ['protocol', 'transport'],
  ),
  apiserver_egress_dialer_dial_failure_count: counter(
    'ALPHA',
    'Connections through a proxy that failed, by its protocol, the transport to it, and the stage: connect (to the proxy) or proxy.',
    ['protocol', 'transport', 'stage'],
  ),
  apiserver_egress_dialer_dial_start_total: counter('ALPHA', 'Connections asked for through a proxy, by its protocol and the transport to it.', [
    'protocol',
    'transport',
  ]),
  apiserver_kube_aggregator_x509_insecure_sha1_total: counter(
    'ALPHA',
    'Certificates of extension API servers that were refused because of an insecure SHA-1 signature.',
  ),
  apiserver_kube_aggregator_x509_missing_san_total: counter(
    'ALPHA',
    'Certificates of extension API servers that were refused because they have no subject alternative name.',
  ),
  apiserver_peer_discovery_sync_errors_total: counter('ALPHA', 'Failures to learn what another API server on the same store serves, by kind.', ['type']),
  apiserver_peer_proxy_errors_total: counter('ALPHA', 'Requests that could not be sent on to another API server on the same store, by kind of failure.', [
    'type',
    'group',
    'version',
    'resource',
  ]),
  apiserver_rerouted_request_total: counter(
    'ALPHA',
    'Requests that were sent on to another API server on the same store, by status code; those without a resource asked what it serves.',
    ['code', 'group', 'version', 'resource'],
  ),
  apiserver_webhooks_x509_insecure_sha1_total: counter('ALPHA', 'Certificates of webhooks that were refused because of an insecure SHA-1 signature.'),
  apiserver_webhooks_x509_missing_san_total: counter('ALPHA', 'Certificates of webhooks that were refused because they have no subject alternative name.'),
  konnectivity_network_proxy_client_client_connections: gauge('ALPHA', 'Tunnels through konnectivity proxies, by status.', ['status'], { isPerProcess: true }),
  konnectivity_network_proxy_client_dial_failure_total: counter('ALPHA', 'Connections through konnectivity proxies that failed, by reason.', ['reason']),
  konnectivity_network_proxy_client_stream_errors_total: counter(
    'ALPHA',
    'Streams to konnectivity proxies that failed, by segment, gRPC code and type of packet.',
    ['segment', 'code', 'packet_type'],
  ),
  konnectivity_network_proxy_client_stream_packets_total: counter('ALPHA', 'Packets to and from konnectivity proxies, by segment and type.', [
    'segment',
    'packet_type',
  ]),
};

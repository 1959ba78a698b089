import { counter, DEFAULT_BUCKETS, formerName, gauge, histogram } from '../declaration.ts';

const shown = {
  apiserver_certificates_registry_csr_honored_duration_total: counter('ALPHA', 'Certificates whose lifetime is the one that was asked for, by signer.', [
    'signerName',
  ]),
  apiserver_certificates_registry_csr_requested_duration_total: counter('ALPHA', 'Certificates for which a lifetime was asked for, by signer.', ['signerName']),
  apiserver_clusterip_repair_ip_errors_total: counter('ALPHA', 'Errors of cluster addresses that the repair found, by kind.', ['type']),
  apiserver_clusterip_repair_reconcile_errors_total: counter('ALPHA', 'Repairs of cluster addresses that failed.', [], { isLazy: true }),
  apiserver_nodeport_repair_port_errors_total: counter('ALPHA', 'Errors of node ports that the repair found, by kind.', ['type']),
  apiserver_nodeport_repair_reconcile_errors_total: counter('ALPHA', 'Repairs of node ports that failed.'),
  apiserver_stream_translator_requests_total: counter('ALPHA', 'Commands over WebSocket version 5 that this server translated to SPDY.', ['code']),
  apiserver_stream_tunnel_requests_total: counter('ALPHA', 'Forwarded ports whose SPDY this server took out of WebSockets.', ['code']),
  apiserver_websocket_streaming_requests_total: counter('ALPHA', 'Streams into pods, by who speaks to the client.', ['subresource', 'proxy_type']),
  kube_apiserver_clusterip_allocator_allocated_ips: gauge('ALPHA', 'Cluster addresses that are in use.', ['cidr']),
  kube_apiserver_clusterip_allocator_allocation_duration_seconds: histogram(
    'ALPHA',
    'Seconds that the allocation of a cluster address took.',
    DEFAULT_BUCKETS,
    ['cidr'],
  ),
  kube_apiserver_clusterip_allocator_allocation_errors_total: counter('ALPHA', 'Allocations of cluster addresses that failed, by scope: static or dynamic.', [
    'cidr',
    'scope',
  ]),
  kube_apiserver_clusterip_allocator_allocation_total: counter('ALPHA', 'Allocations of cluster addresses, by scope: static or dynamic.', ['cidr', 'scope']),
  kube_apiserver_clusterip_allocator_available_ips: gauge('ALPHA', 'Cluster addresses that are free.', ['cidr']),
  kube_apiserver_nodeport_allocator_allocated_ports: gauge('ALPHA', 'Node ports that are in use.'),
  kube_apiserver_nodeport_allocator_allocation_errors_total: counter('ALPHA', 'Allocations of node ports that failed, by scope: static or dynamic.', ['scope']),
  kube_apiserver_nodeport_allocator_allocation_total: counter('ALPHA', 'Allocations of node ports, by scope: static or dynamic.', ['scope']),
  kube_apiserver_nodeport_allocator_available_ports: gauge('ALPHA', 'Node ports that are free.'),
  kube_apiserver_pod_logs_backend_tls_failure_total: counter('ALPHA', "Logs that could not be read since a kubelet's certificate was not to be trusted.", [], {
    isLazy: true,
  }),
  kube_apiserver_pod_logs_insecure_backend_total: counter('ALPHA', "Logs that were read, by whether kubelets' certificates had to be verified.", ['usage']),
};

/** What single resources count: allocators, certificates, streams into pods (pkg/registry/core, pkg/registry/certificates). */
export const resourcesMetrics = {
  ...shown,
  kube_apiserver_pod_logs_pods_logs_backend_tls_failure_total: formerName(
    shown.kube_apiserver_pod_logs_backend_tls_failure_total,
    'kube_apiserver_pod_logs_backend_tls_failure_total',
    '1.27.0',
  ),
  kube_apiserver_pod_logs_pods_logs_insecure_backend_total: formerName(
    shown.kube_apiserver_pod_logs_insecure_backend_total,
    'kube_apiserver_pod_logs_insecure_backend_total',
    '1.27.0',
  ),
};

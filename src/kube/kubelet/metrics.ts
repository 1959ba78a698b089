import type { MetricRegistry } from '../../metrics/registry.ts';

/** What is counted of the streams into pods (apiserver/pkg/util/proxy/metrics, pkg/registry/core/pod/rest/metrics.go). */
export class StreamMetrics {
  /** A command over WebSocket whose SPDY is spoken here. */
  readonly translated: (code: number) => void;
  /** Forwarded ports whose SPDY is taken out of its WebSocket here. */
  readonly tunnelled: (code: number) => void;
  readonly routed: (subresource: string, route: 'proxied_to_kubelet' | 'translated_at_apiserver') => void;
  readonly logRead: (isUnverified: boolean) => void;
  readonly logTlsFailed: () => void;

  constructor(registry: MetricRegistry) {
    const translated = registry.family('apiserver_stream_translator_requests_total');
    const tunnelled = registry.family('apiserver_stream_tunnel_requests_total');
    const routed = registry.family('apiserver_websocket_streaming_requests_total');
    const logRead = registry.family('kube_apiserver_pod_logs_insecure_backend_total');
    const logTlsFailed = registry.family('kube_apiserver_pod_logs_backend_tls_failure_total');
    this.translated = (code) => translated.with(String(code)).inc();
    this.tunnelled = (code) => tunnelled.with(String(code)).inc();
    this.routed = (subresource, route) => routed.with(subresource, route).inc();
    this.logRead = (isUnverified) => logRead.with(isUnverified ? 'skip_tls_allowed' : 'enforce_tls').inc();
    this.logTlsFailed = () => logTlsFailed.with().inc();
  }
}

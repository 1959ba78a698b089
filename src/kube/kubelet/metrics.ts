import type { MetricRegistry } from '../../server/metrics/registry.ts';

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
    const counter = (name: string, help: string, labels: readonly string[] = []): ((...values: string[]) => void) => {
      const family = registry.counter({ name, help, stability: 'ALPHA', labels });
      return (...values) => family.with(...values).inc();
    };
    const translated = counter('apiserver_stream_translator_requests_total', 'Commands over WebSocket version 5 that this server translated to SPDY.', [
      'code',
    ]);
    const tunnelled = counter('apiserver_stream_tunnel_requests_total', 'Forwarded ports whose SPDY this server took out of WebSockets.', ['code']);
    const routed = counter('apiserver_websocket_streaming_requests_total', 'Streams into pods, by who speaks to the client.', ['subresource', 'proxy_type']);
    const logRead = counter('kube_apiserver_pod_logs_insecure_backend_total', "Logs that were read, by whether kubelets' certificates had to be verified.", [
      'usage',
    ]);
    this.translated = (code) => translated(String(code));
    this.tunnelled = (code) => tunnelled(String(code));
    this.routed = routed;
    this.logRead = (isUnverified) => logRead(isUnverified ? 'skip_tls_allowed' : 'enforce_tls');
    this.logTlsFailed = counter(
      'kube_apiserver_pod_logs_backend_tls_failure_total',
      "Logs that could not be read since a kubelet's certificate was not to be trusted.",
    );
  }
}

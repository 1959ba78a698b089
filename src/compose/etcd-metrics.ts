import { storedResource } from '../apis/stored-resources.ts';
import type { HistogramSeries, NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import { codeNameOf } from '../grpc/status.ts';
import type { CallObserver, EtcdObserver, EtcdOperation } from '../storage/engines/etcd/observer.ts';

interface RequestSeries {
  latency: HistogramSeries;
  requests: NumberSeries;
  errors: () => NumberSeries;
}

/** Upstream's metrics of etcd, by the resource that a key belongs to. `prefix`: `/registry/`. */
export function registerEtcdMetrics(registry: MetricRegistry, prefix: string): EtcdObserver {
  const leaseObjects = registry.family('etcd_lease_object_counts');
  // One watch serves all resources, so there is one series.
  const bookmarks = registry.family('etcd_bookmark_total');
  const seriesOf = requestSeries(registry, prefix);
  return {
    begin(operation, key) {
      const startedAtMs = performance.now();
      return (isSuccess) => {
        const series = seriesOf(operation, key);
        series.latency.observe((performance.now() - startedAtMs) / 1000);
        series.requests.inc();
        if (!isSuccess) series.errors().inc();
      };
    },
    call: callSeries(registry),
    onLeaseRetired: (objects) => leaseObjects.with().observe(objects),
    onProgress: () => bookmarks.with('', '').inc(),
  };
}

function requestSeries(registry: MetricRegistry, prefix: string) {
  const latencies = registry.family('etcd_request_duration_seconds');
  const requests = registry.family('etcd_requests_total');
  const errors = registry.family('etcd_request_errors_total');
  const known = new Map<string, RequestSeries>();
  return (operation: EtcdOperation, key: string): RequestSeries => {
    const { group, resource } = key.startsWith(prefix) ? storedResource(key.slice(prefix.length)) : { group: '', resource: '' };
    const name = `${operation} ${resource}.${group}`;
    const found = known.get(name);
    if (found) return found;
    const labels = [operation, group, resource] as const;
    const made = { latency: latencies.with(...labels), requests: requests.with(...labels), errors: () => errors.with(...labels) };
    known.set(name, made);
    return made;
  };
}

/** As go-grpc-prometheus counts the calls of Go's client, by service and method of the path. */
function callSeries(registry: MetricRegistry): NonNullable<EtcdObserver['call']> {
  const started = registry.family('grpc_client_started_total');
  const sent = registry.family('grpc_client_msg_sent_total');
  const received = registry.family('grpc_client_msg_received_total');
  const handled = registry.family('grpc_client_handled_total');
  const known = new Map<string, { started: NumberSeries; call(): CallObserver }>();
  return (path, type) => {
    let series = known.get(path);
    if (!series) {
      const [service = '', method = ''] = path.slice(1).split('/');
      const labels = [type, service, method] as const;
      const [sentHere, receivedHere] = [sent.with(...labels), received.with(...labels)];
      const call = (): CallObserver => {
        let hasEnded = false;
        return {
          sent: () => sentHere.inc(),
          received: () => receivedHere.inc(),
          ended(error) {
            if (!hasEnded) handled.with(...labels, codeNameOf(error)).inc();
            hasEnded = true;
          },
        };
      };
      known.set(path, (series = { started: started.with(...labels), call }));
    }
    series.started.inc();
    return series.call();
  };
}

/** What can say how large its members' databases are. */
interface Sized {
  sizes(timeoutMs: number): Promise<(readonly [endpoint: string, sizeBytes: number | undefined])[]>;
}

const SIZE_TIMEOUT_MS = 1_000;

/**
 * Reads the size of each cluster once an interval, from the first member that tells it, and that of each member by itself (-1: it does not tell). Answers what
 * ends this.
 */
export function pollSizes(registry: MetricRegistry, clusters: readonly Sized[], intervalMs: number): () => void {
  const gauge = registry.family('apiserver_storage_size_bytes');
  const memberGauge = registry.family('apiserver_storage_db_total_size_in_bytes');
  const poll = async (cluster: Sized, index: number): Promise<void> => {
    const sizes = await cluster.sizes(SIZE_TIMEOUT_MS);
    for (const [endpoint, size] of sizes) memberGauge.with(endpoint).set(size ?? -1);
    const sizeBytes = sizes.find(([, size]) => size !== undefined)?.[1];
    if (sizeBytes !== undefined) gauge.with(`etcd-${index}`).set(sizeBytes);
  };
  const pollAll = (): void => clusters.forEach((cluster, index) => void poll(cluster, index));
  pollAll();
  const timer = setInterval(pollAll, intervalMs).unref();
  return () => clearInterval(timer);
}

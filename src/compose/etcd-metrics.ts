import { storedResource } from '../apis/stored-resources.ts';
import type { Family, HistogramSeries, MetricRegistry, NumberSeries } from '../server/metrics/registry.ts';
import type { EtcdObserver, EtcdOperation } from '../storage/engines/etcd/observer.ts';

/** Upstream's buckets (apiserver/pkg/storage/etcd3/metrics/metrics.go). */
const LATENCY_SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const LEASE_OBJECTS = [10, 50, 100, 500, 1000, 2500, 5000];
const REQUEST_LABELS = ['operation', 'group', 'resource'];

interface RequestSeries {
  latency: HistogramSeries;
  requests: NumberSeries;
  errors: () => NumberSeries;
}

/** Upstream's metrics of etcd, by the resource that a key belongs to. `prefix`: `/registry/`. */
export function registerEtcdMetrics(registry: MetricRegistry, prefix: string): EtcdObserver {
  const latencies = registry.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'How long etcd took to answer, by operation and resource.',
    stability: 'ALPHA',
    labels: REQUEST_LABELS,
    buckets: LATENCY_SECONDS,
  });
  const requests = registry.counter({ name: 'etcd_requests_total', help: 'Requests to etcd.', stability: 'ALPHA', labels: REQUEST_LABELS });
  const errors = registry.counter({ name: 'etcd_request_errors_total', help: 'Requests to etcd that failed.', stability: 'ALPHA', labels: REQUEST_LABELS });
  const leaseObjects = registry.histogram({ name: 'etcd_lease_object_counts', help: 'Objects on one lease.', stability: 'ALPHA', buckets: LEASE_OBJECTS });
  // One watch serves all resources, so there is one series.
  const bookmarks = registry.counter({ name: 'etcd_bookmark_total', help: 'Signs of progress from etcd.', stability: 'ALPHA', labels: ['group', 'resource'] });
  const seriesOf = requestSeries({ latencies, requests, errors }, prefix, registry);
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
    onLeaseRetired: (objects) => leaseObjects.with().observe(objects),
    onProgress: () => bookmarks.with('', '').inc(),
  };
}

interface Families {
  latencies: Family<HistogramSeries>;
  requests: Family<NumberSeries>;
  errors: Family<NumberSeries>;
}

function requestSeries({ latencies, requests, errors }: Families, prefix: string, registry: MetricRegistry) {
  const known = new Map<string, RequestSeries>();
  registry.onReset(() => known.clear());
  return (operation: EtcdOperation, key: string): RequestSeries => {
    const { group, resource } = key.startsWith(prefix) ? storedResource(key.slice(prefix.length)) : { group: '', resource: '' };
    const name = `${operation} ${resource}.${group}`;
    const found = known.get(name);
    if (found) return found;
    const labels = [operation, group, resource];
    const made = { latency: latencies.with(...labels), requests: requests.with(...labels), errors: () => errors.with(...labels) };
    known.set(name, made);
    return made;
  };
}

/** What can say how large its members' databases are. */
interface Sized {
  sizes(timeoutMs: number): Promise<(readonly [endpoint: string, sizeBytes: number | undefined])[]>;
}

const SIZE_TIMEOUT_MS = 1_000;

/** Reads the size of each cluster once an interval, from the first member that tells it. Answers what ends this. */
export function pollSizes(registry: MetricRegistry, clusters: readonly Sized[], intervalMs: number): () => void {
  const gauge = registry.gauge({
    name: 'apiserver_storage_size_bytes',
    help: "Size of the store's file as it lies on the disk.",
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  });
  const poll = async (cluster: Sized, index: number): Promise<void> => {
    const sizeBytes = (await cluster.sizes(SIZE_TIMEOUT_MS)).find(([, size]) => size !== undefined)?.[1];
    if (sizeBytes !== undefined) gauge.with(`etcd-${index}`).set(sizeBytes);
  };
  const pollAll = (): void => clusters.forEach((cluster, index) => void poll(cluster, index));
  pollAll();
  const timer = setInterval(pollAll, intervalMs).unref();
  return () => clearInterval(timer);
}

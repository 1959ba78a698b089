/** Which metrics are shown, and with which label values (component-base/metrics/options.go). */
export interface MetricSelection {
  /** --disabled-metrics. Goes before `showsHidden`. */
  disabled: ReadonlySet<string>;
  /** --allow-metric-labels: by metric, by label. Any other value reads `unexpected`. */
  allowedValues: ReadonlyMap<string, AllowedValues>;
  /** --show-hidden-metrics-for-version */
  showsHidden: boolean;
}

/** The values that a metric's labels may take, by label. A label that is not named takes any. */
export type AllowedValues = ReadonlyMap<string, ReadonlySet<string>>;

export const EVERY_METRIC: MetricSelection = { disabled: new Set(), allowedValues: new Map(), showsHidden: false };

/** A metric under a name that it no longer has: shown only where hidden metrics are asked for. */
export interface HiddenMetric {
  name: string;
  /** The metric that has taken its place, and whose values it shows. */
  of: string;
  deprecatedVersion: string;
  /** Where it was another type. */
  type?: 'gauge';
}

/** All are ALPHA. Upstream hides `apiserver_storage_db_total_size_in_bytes` too, which has neither the values nor the labels of its successor. */
export const HIDDEN_METRICS: readonly HiddenMetric[] = [
  { name: 'apiserver_flowcontrol_request_concurrency_in_use', of: 'apiserver_flowcontrol_current_executing_seats', deprecatedVersion: '1.31.0' },
  { name: 'apiserver_flowcontrol_request_concurrency_limit', of: 'apiserver_flowcontrol_nominal_limit_seats', deprecatedVersion: '1.30.0' },
  { name: 'apiserver_request_slo_duration_seconds', of: 'apiserver_request_sli_duration_seconds', deprecatedVersion: '1.27.0' },
  { name: 'etcd_bookmark_counts', of: 'etcd_bookmark_total', deprecatedVersion: '1.36.0', type: 'gauge' },
  {
    name: 'kube_apiserver_pod_logs_pods_logs_backend_tls_failure_total',
    of: 'kube_apiserver_pod_logs_backend_tls_failure_total',
    deprecatedVersion: '1.27.0',
  },
  { name: 'kube_apiserver_pod_logs_pods_logs_insecure_backend_total', of: 'kube_apiserver_pod_logs_insecure_backend_total', deprecatedVersion: '1.27.0' },
];

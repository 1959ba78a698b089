import type { MetricRegistry } from '../../server/metrics/registry.ts';

/** What became of a conversion that failed; upstream's words for it. */
export type ConversionFailure = 'call_failure' | 'malformed_response_failure' | 'partial_response_failure' | 'invalid_converted_object_failure';

/** One conversion of objects of one definition. */
interface ObservedConversion {
  definitionName: string;
  fromVersion: string;
  toVersion: string;
  durationMs: number;
  failure: ConversionFailure | undefined;
}

export type ObserveConversion = (conversion: ObservedConversion) => void;

const REQUEST_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];
const CONVERSION_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** What webhooks that convert are counted by, under upstream's names (…/apiserver/conversion/metrics.go). */
export function conversionMetrics(registry: MetricRegistry): ObserveConversion {
  const requests = registry.counter({
    name: 'apiserver_conversion_webhook_request_total',
    help: 'Conversions asked of webhooks, by result and kind of failure.',
    stability: 'ALPHA',
    labels: ['result', 'failure_type'],
  });
  const latencies = registry.histogram({
    name: 'apiserver_conversion_webhook_duration_seconds',
    help: 'Seconds that conversions by webhooks took, by result and kind of failure.',
    stability: 'ALPHA',
    labels: ['result', 'failure_type'],
    buckets: REQUEST_BUCKETS,
  });
  const conversions = registry.histogram({
    name: 'apiserver_crd_conversion_webhook_duration_seconds',
    help: 'Seconds that conversions of custom objects took, by definition and versions.',
    stability: 'ALPHA',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: CONVERSION_BUCKETS,
  });
  return ({ definitionName, fromVersion, toVersion, durationMs, failure }) => {
    const labels = failure === undefined ? ['success', ''] : ['failure', `conversion_webhook_${failure}`];
    requests.with(...labels).inc();
    latencies.with(...labels).observe(durationMs / 1000);
    conversions.with(definitionName, fromVersion, toVersion, String(failure === undefined)).observe(durationMs / 1000);
  };
}

import type { MetricRegistry } from '../../metrics/registry.ts';

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

/** What webhooks that convert are counted by, under upstream's names (…/apiserver/conversion/metrics.go). */
export function conversionMetrics(registry: MetricRegistry): ObserveConversion {
  const requests = registry.family('apiserver_conversion_webhook_request_total');
  const latencies = registry.family('apiserver_conversion_webhook_duration_seconds');
  const conversions = registry.family('apiserver_crd_conversion_webhook_duration_seconds');
  return ({ definitionName, fromVersion, toVersion, durationMs, failure }) => {
    const labels: [string, string] = failure === undefined ? ['success', ''] : ['failure', `conversion_webhook_${failure}`];
    requests.with(...labels).inc();
    latencies.with(...labels).observe(durationMs / 1000);
    conversions.with(definitionName, fromVersion, toVersion, String(failure === undefined)).observe(durationMs / 1000);
  };
}

import { codeNameOf } from '../../grpc/status.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import type { SignerObserver } from './observer.ts';

/** apiserver_externaljwt_* (pkg/serviceaccount/externaljwt/metrics). */
export function registerSignerMetrics(registry: MetricRegistry, nowMs: () => number): SignerObserver {
  const seconds = registry.family('apiserver_externaljwt_request_duration_seconds');
  const signatures = registry.family('apiserver_externaljwt_sign_request_total');
  const fetches = registry.family('apiserver_externaljwt_fetch_keys_request_total');
  const fetchedAt = registry.family('apiserver_externaljwt_fetch_keys_success_timestamp');
  const asOf = registry.family('apiserver_externaljwt_fetch_keys_data_timestamp');
  return {
    called: (method, elapsedSeconds, error) => seconds.with(method, codeNameOf(error)).observe(elapsedSeconds),
    signed: (error) => signatures.with(codeNameOf(error)).inc(),
    keysFetched(error) {
      fetches.with(codeNameOf(error)).inc();
      if (!error) fetchedAt.with().set(nowMs() / 1000);
    },
    keysAsOf: (timestampSeconds) => asOf.with().set(timestampSeconds),
  };
}

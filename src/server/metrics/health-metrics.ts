import type { INDICATORS } from '../../metrics/inventory.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { setProcessStartTime } from './process-metrics.ts';

/** Called with each check's result; `type` is healthz, livez or readyz. */
export type HealthObserver = (check: string, type: string, isHealthy: boolean) => void;

/** The service-level indicators of `/metrics/slis`: each health check's last result, and how often it had which. */
export function registerHealthMetrics(registry: MetricRegistry<typeof INDICATORS>): HealthObserver {
  const last = registry.family('kubernetes_healthcheck');
  const results = registry.family('kubernetes_healthchecks_total');
  registry.onCollect(() => setProcessStartTime(registry.family('process_start_time_seconds')));
  return (check, type, isHealthy) => {
    last.with(check, type).set(isHealthy ? 1 : 0);
    results.with(check, type, isHealthy ? 'success' : 'error').inc();
  };
}

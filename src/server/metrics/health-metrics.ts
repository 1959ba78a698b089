import type { MetricRegistry } from './registry.ts';
import { registerProcessStartTime } from './process-metrics.ts';

/** Called with each check's result; `type` is healthz, livez or readyz. */
export type HealthObserver = (check: string, type: string, isHealthy: boolean) => void;

/** The service-level indicators of `/metrics/slis`: each health check's last result, and how often it had which. */
export function registerHealthMetrics(registry: MetricRegistry): HealthObserver {
  const last = registry.gauge({
    name: 'kubernetes_healthcheck',
    help: 'The last result of a health check: 1 is healthy.',
    stability: 'STABLE',
    labels: ['name', 'type'],
  });
  const results = registry.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Results of health checks.',
    stability: 'STABLE',
    labels: ['name', 'type', 'status'],
  });
  registerProcessStartTime(registry);
  return (check, type, isHealthy) => {
    last.with(check, type).set(isHealthy ? 1 : 0);
    results.with(check, type, isHealthy ? 'success' : 'error').inc();
  };
}

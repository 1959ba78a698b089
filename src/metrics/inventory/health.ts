import { counter, gauge } from '../declaration.ts';

/** Service-level indicators, which `/metrics/slis` shows (component-base/metrics/prometheus/slis). */
export const healthMetrics = {
  kubernetes_healthcheck: gauge('STABLE', 'The last result of a health check: 1 is healthy.', ['name', 'type']),
  kubernetes_healthchecks_total: counter('STABLE', 'Results of health checks.', ['name', 'type', 'status']),
};

import type { Handler } from '../../endpoints/request.ts';
import type { MetricRegistry } from './registry.ts';
import { METRICS_CONTENT_TYPE } from './text.ts';

/** Serves `/metrics` or `/metrics/slis`. With `canReset` (profiling is on) a DELETE begins all counts anew. */
export function metricsEndpoint(registry: MetricRegistry, { canReset = false } = {}): Handler {
  return ({ exchange }) => {
    if (canReset && exchange.method === 'DELETE') {
      registry.reset();
      exchange.respond(200, { 'content-type': 'text/plain; charset=utf-8' }, 'metrics reset\n');
      return;
    }
    exchange.respond(200, { 'content-type': METRICS_CONTENT_TYPE }, registry.print());
  };
}

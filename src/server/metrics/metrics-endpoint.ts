import type { Handler } from '../../endpoints/request.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { METRICS_CONTENT_TYPE } from '../../metrics/text.ts';

export interface MetricsEndpointOptions {
  canReset?: boolean;
  /** Where there is more to show than the registry has. */
  print?: (() => string | Promise<string>) | undefined;
  /** Where others count too. */
  reset?: (() => void) | undefined;
}

/** Serves `/metrics` or `/metrics/slis`. With `canReset` (profiling is on) a DELETE begins all counts anew. */
export function metricsEndpoint(
  registry: Pick<MetricRegistry, 'printInSlices' | 'reset'>,
  { canReset = false, print = () => registry.printInSlices(), reset = () => registry.reset() }: MetricsEndpointOptions = {},
): Handler {
  return async ({ exchange }) => {
    if (canReset && exchange.method === 'DELETE') {
      reset();
      exchange.respond(200, { 'content-type': 'text/plain; charset=utf-8' }, 'metrics reset\n');
      return;
    }
    exchange.respond(200, { 'content-type': METRICS_CONTENT_TYPE }, await print());
  };
}

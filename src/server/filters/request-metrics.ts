import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

/**
 * Counts what reaches the handlers, as upstream does: requests that earlier filters refuse are not among them, but for those that max-in-flight drops,
 * which it counts itself.
 */
export function withRequestMetrics(metrics: ServerMetrics): Filter {
  const record = (request: IncomingRequest): void => metrics.recordRequest(request);
  return (next) => (request) => {
    request.onFinish(record);
    if (request.isLongRunning) metrics.trackLongRunning(request);
    return next(request);
  };
}

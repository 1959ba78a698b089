import { monotonicClock } from '../../util/clock.ts';
import { Deadlines } from '../../util/deadlines.ts';
import { timeout } from '../../api/errors.ts';
import type { InFlightRequests } from '../in-flight.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';
import { writeJsonError } from './write-error.ts';

const DEADLINE_PASSED = new Error('the deadline has passed');

/**
 * Answers 504 for a handler that is still at work when the deadline passes, and tells it to stop. What it answers afterwards is dropped; an answer that
 * had begun is cut off. A handler that answers at once never sees a timer.
 */
export function withTimeout(metrics: ServerMetrics, requests: InFlightRequests): Filter {
  const countLate = (): void => metrics.recordPostTimeout();
  const onDeadline = (request: IncomingRequest): void => {
    if (request.exchange.isClosed) return;
    metrics.recordTermination(request, 504);
    if (request.exchange.isAnswered) {
      metrics.recordAbort(request);
      request.exchange.stream?.destroy();
    } else writeJsonError(request, timeout('request did not complete within the allotted timeout'));
    request.onFinish(countLate);
    request.abort(DEADLINE_PASSED);
  };
  const deadlines = new Deadlines<IncomingRequest>(monotonicClock, ({ deadlineMs }) => deadlineMs!, onDeadline);
  requests.waiting = deadlines;
  const leave = (request: IncomingRequest): void => deadlines.delete(request);
  return (next) => (request) => {
    const pending = next(request);
    if (pending === undefined || request.deadlineMs === undefined) return pending;
    deadlines.add(request);
    request.onFinish(leave);
    return pending;
  };
}

import type { QueuedRequest, FlowControl } from '../flow-control.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { Watermark } from '../metrics/watermark.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter, RequestHandler } from './filter.ts';
import { writeTextError } from './write-error.ts';

export interface PriorityAndFairnessOptions {
  flowControl: FlowControl;
  metrics: ServerMetrics;
}

const READ_ONLY_VERBS = new Set(['get', 'list', 'watch']);

/**
 * Lets requests start when flow control says so, and refuses with 429 those that it rejects (apiserver/pkg/server/filters/priority-and-fairness.go).
 * Long-running requests pass, but for watches, which count until they have begun.
 */
export function withPriorityAndFairness({ flowControl, metrics }: PriorityAndFairnessOptions): Filter {
  const executing = new CountByKind(metrics.readOnlyInFlight, metrics.mutatingInFlight);
  const waiting = new CountByKind(metrics.readOnlyInQueue, metrics.mutatingInQueue);

  /** What is answered at once has its seat back before this returns. */
  const execute = (next: RequestHandler, request: IncomingRequest, admission: QueuedRequest): Promise<void> | void => {
    executing.enter(request);
    if (request.isLongRunning) request.onFinish(flowControl.trackWatch(request));
    let pending: Promise<void> | void = undefined;
    const end = (isAtOnce: boolean): void => {
      executing.leave(request);
      admission.finish(isAtOnce);
    };
    try {
      pending = next(request);
    } finally {
      if (pending === undefined) end(true);
    }
    if (pending === undefined) return;
    // A watch's handler returns when it has begun; the request goes on.
    const endLater = (): void => end(false);
    if (request.isLongRunning) pending.then(endLater, endLater);
    else request.onFinish(endLater);
    return pending;
  };
  /** What is thrown is its promise's. */
  const executeLater = async (next: RequestHandler, request: IncomingRequest, admission: QueuedRequest): Promise<void> => execute(next, request, admission);
  const refuse = (request: IncomingRequest, admission: QueuedRequest): void => {
    metrics.recordDropped(request);
    metrics.recordTermination(request, 429);
    request.responseHeaders['retry-after'] = String(admission.retryAfterSeconds);
    writeTextError(request, 429, 'Too many requests, please try again later.');
  };
  /** One by one: a client that sends again at once then does so one by one, and those who wait are not kept up by a crowd. */
  const refuseLater = (request: IncomingRequest, admission: QueuedRequest): Promise<void> =>
    new Promise((resolve) => {
      flowControl.putOff(() => resolve(refuse(request, admission)));
    });
  const wait = (next: RequestHandler, request: IncomingRequest, admission: QueuedRequest): Promise<void> =>
    new Promise((resolve) => {
      const startMs = performance.now();
      waiting.enter(request);
      request.waitsFor = 'apf-queue-wait';
      admission.onDecision = (isExecuting) => {
        waiting.leave(request);
        request.waitsFor = undefined;
        request.noteLatency('apf-queue-wait', performance.now() - startMs);
        resolve(isExecuting ? executeLater(next, request, admission) : refuse(request, admission));
      };
      request.exchange.onClose(() => admission.cancel());
    });

  return (next) => (request) => {
    if (request.isLongRunning && request.info.verb !== 'watch') return next(request);
    const admission = flowControl.arrive(request);
    request.responseHeaders['x-kubernetes-pf-flowschema-uid'] = admission.flowSchemaUid;
    request.responseHeaders['x-kubernetes-pf-prioritylevel-uid'] = admission.priorityLevelUid;
    if (admission.state === 'executing') return execute(next, request, admission);
    return admission.state === 'waiting' ? wait(next, request, admission) : refuseLater(request, admission);
  };
}

/** Reads and writes are counted apart, and the highest of each is kept for who asks. */
class CountByKind {
  readonly #readOnlyMark: Watermark;
  readonly #mutatingMark: Watermark;
  #readOnly = 0;
  #mutating = 0;
  constructor(readOnlyMark: Watermark, mutatingMark: Watermark) {
    this.#readOnlyMark = readOnlyMark;
    this.#mutatingMark = mutatingMark;
  }
  enter({ info }: IncomingRequest): void {
    if (READ_ONLY_VERBS.has(info.verb)) this.#readOnlyMark.record(++this.#readOnly);
    else this.#mutatingMark.record(++this.#mutating);
  }
  leave({ info }: IncomingRequest): void {
    if (READ_ONLY_VERBS.has(info.verb)) this.#readOnly--;
    else this.#mutating--;
  }
}

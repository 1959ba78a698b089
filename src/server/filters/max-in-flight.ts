import { SYSTEM_PRIVILEGED_GROUP } from '../../api/user.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { Filter } from './filter.ts';
import { writeTextError } from './write-error.ts';

export interface MaxInFlightOptions {
  /** `--max-requests-inflight`; 0 is no limit. */
  readOnlyLimit: number;
  /** `--max-mutating-requests-inflight`; 0 is no limit. */
  mutatingLimit: number;
  metrics: ServerMetrics;
}

const READ_ONLY_VERBS = new Set(['get', 'list', 'watch']);

/** Refuses requests beyond two limits, one for reads and one for all else. Long-running ones do not count; system:masters always get an answer. */
export function withMaxInFlight({ readOnlyLimit, mutatingLimit, metrics }: MaxInFlightOptions): Filter {
  const readOnly = new Limit(readOnlyLimit, (count) => metrics.readOnlyInFlight.record(count));
  const mutating = new Limit(mutatingLimit, (count) => metrics.mutatingInFlight.record(count));
  return (next) => (request) => {
    if (request.isLongRunning) return next(request);
    const limit = READ_ONLY_VERBS.has(request.info.verb) ? readOnly : mutating;
    if (limit.enter()) {
      request.onFinish(limit.leave);
      return next(request);
    }
    if (request.user.groups.includes(SYSTEM_PRIVILEGED_GROUP)) return next(request);
    metrics.recordDropped(request);
    metrics.recordTermination(request, 429);
    request.responseHeaders['retry-after'] = '1';
    writeTextError(request, 429, 'Too many requests, please try again later.');
  };
}

class Limit {
  readonly leave = (): void => {
    this.#count--;
  };
  readonly #limit: number;
  readonly #record: (count: number) => void;
  #count = 0;
  constructor(limit: number, record: (count: number) => void) {
    this.#limit = limit === 0 ? Infinity : limit;
    this.#record = record;
  }
  enter(): boolean {
    if (this.#count >= this.#limit) return false;
    this.#count++;
    this.#record(this.#count);
    return true;
  }
}

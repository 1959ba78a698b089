import { serviceUnavailable } from '../../api/errors.ts';
import type { InFlightRequests } from '../in-flight.ts';
import type { Filter } from './filter.ts';
import { isExemptFromShutdown } from './retry-after.ts';

/** Counts the requests that shutdown waits for; those that come after it began to wait are sent elsewhere. */
export function withWaitGroup(requests: InFlightRequests): Filter {
  const release = (): void => requests.done();
  return (next) => (request) => {
    if (request.isLongRunning) {
      if (request.info.verb !== 'watch') requests.addStream(request);
      return next(request);
    }
    if (requests.add()) {
      request.onFinish(release);
      return next(request);
    }
    if (isExemptFromShutdown(request)) return next(request);
    request.responseHeaders['retry-after'] = '1';
    throw serviceUnavailable('apiserver is shutting down');
  };
}

import { serviceUnavailable } from '../../api/errors.ts';
import type { OpenWatches } from '../in-flight.ts';
import type { Filter } from './filter.ts';

/** Knows every open watch, so that shutdown can end them; refuses new ones once it has begun to. */
export function withWatchTermination(watches: OpenWatches): Filter {
  return (next) => (request) => {
    if (request.info.verb !== 'watch') return next(request);
    if (!watches.add(request)) {
      request.responseHeaders['retry-after'] = '1';
      throw serviceUnavailable('apiserver is shutting down');
    }
    return next(request);
  };
}

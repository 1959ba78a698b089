import { badRequest } from '../../api/errors.ts';
import { fingerprintOf } from '../running-request.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

export interface RefusedRequests {
  /** Before anything is known of who sends it: has the body kept for its fingerprint. */
  inFront: Filter;
  /** Once the user is known. */
  ofUser: Filter;
}

/** `--supervised`: refuses the requests that have ended the server's process before (src/supervision), wherever in their course they did. */
export function withRefusedRequests(fingerprints: readonly string[]): RefusedRequests {
  const refused = new Set(fingerprints);
  const check = (request: IncomingRequest): void => {
    if (refused.size > 0 && refused.has(fingerprintOf(request)))
      throw badRequest('this very request has ended the server process more than once; it is refused until the supervisor is started anew');
  };
  return {
    inFront: (next) => (request) => {
      request.exchange.onBody = (bytes) => {
        request.knownBody = bytes;
        check(request);
      };
      check(request);
      return next(request);
    },
    ofUser: (next) => (request) => {
      check(request);
      return next(request);
    },
  };
}

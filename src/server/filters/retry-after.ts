import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';
import { writeTextError } from './write-error.ts';

const EXEMPT_PATH_PREFIXES = ['/readyz', '/livez', '/healthz', '/metrics'];

/** Probes, scrapes and the server's own requests are served to the end. This filter and the wait group must agree on them, or one would wait for the other. */
export const isExemptFromShutdown = (request: IncomingRequest): boolean =>
  request.userAgent.startsWith('kube-apiserver/') || EXEMPT_PATH_PREFIXES.some((prefix) => request.info.path.startsWith(prefix));

/** `--shutdown-send-retry-after`: while the last requests drain, new ones are sent elsewhere, and their connections closed. */
export function withRetryAfter(notAcceptingNewRequest: { readonly isSignaled: boolean }): Filter {
  return (next) => (request) => {
    if (!notAcceptingNewRequest.isSignaled || isExemptFromShutdown(request)) return next(request);
    request.exchange.connection.requestClose();
    request.responseHeaders['retry-after'] = '5';
    writeTextError(request, 429, 'The apiserver is shutting down, please try again later.');
  };
}

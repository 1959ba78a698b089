import type { Filter, RequestHandler } from './filter.ts';

/**
 * The filters in the order in which a request meets them (apiserver/pkg/server/config.go, DefaultBuildHandlerChain). A name without a filter is a place
 * kept for one: it is passed over. Three of upstream's are no filters here: the time of receipt and the warning recorder are part of the request, and
 * filters that cost time are not timed one by one.
 */
export const FILTER_ORDER = [
  'auditId',
  'panicGuard',
  'pathsInstalled',
  'requestInfo',
  'refusedRequests', // --supervised
  'requestRecord', // a server in a test's own process
  'consoleRecord', // --console, while somebody is signed in
  'httpLog', // only when someone listens
  'slowRequests',
  'retryAfter', // --shutdown-send-retry-after
  'hsts', // --strict-transport-security-directives
  'cacheControl',
  'compression', // APIResponseCompression=false
  'goaway', // --goaway-chance
  'watchTermination',
  'waitGroup',
  'requestDeadline',
  'timeout',
  'cors', // --cors-allowed-origins
  'catchUp', // --workers
  'console', // --console; the page and signing in are for everybody
  'authentication',
  'tracing', // --tracing-config-file; behind authentication, since only known clients may ask to be sampled
  'audit', // --audit-policy-file; sees who asks before impersonation changes it
  'refusedRequestsOfUser', // --supervised
  'impersonation', // is authorized itself, then replaces the user for all that follows
  'readOnly', // binnacle replay
  'faults', // --fault-config-file, or a test; behind impersonation, since rules name users
  'concurrencyLimit', // priority and fairness, or --max-requests-inflight in its place
  'authorization',
  'storageVersions', // StorageVersionAPI
  'peers', // --peer-ca-file; innermost but for what counts
  'requestMetrics', // innermost: upstream counts in the handlers
] as const;

export type FilterName = (typeof FILTER_ORDER)[number];

/** The handler behind all of the filters that there are. */
export function chainFilters(filters: Partial<Record<FilterName, Filter>>, handler: RequestHandler): RequestHandler {
  return FILTER_ORDER.reduceRight<RequestHandler>((next, name) => filters[name]?.(next) ?? next, handler);
}

import { type StorageVersionBarrier, withStorageVersionBarrier } from './storage-versions.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { FlowControl } from '../flow-control.ts';
import type { InFlightRequests, OpenWatches } from '../in-flight.ts';
import type { LifecycleSignals } from '../lifecycle.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import { type AuditOptions, auditRefusal, withAudit } from './audit.ts';
import { withAuditId } from './audit-id.ts';
import { type AuthenticationFilterOptions, withAuthentication } from './authentication.ts';
import { withAuthorization } from './authorization.ts';
import { withCatchUp } from './catch-up.ts';
import { withCors } from './cors.ts';
import type { Filter } from './filter.ts';
import { type HttpLog, withHttpLog } from './http-log.ts';
import { withImpersonation } from './impersonation.ts';
import { withMaxInFlight } from './max-in-flight.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { FilterName } from './order.ts';
import { type RequestFault, withPanicGuard } from './panic-guard.ts';
import { withPathsInstalled } from './paths-installed.ts';
import { withPriorityAndFairness } from './priority-and-fairness.ts';
import { withReadOnly } from './read-only.ts';
import { withRefusedRequests } from './refused-requests.ts';
import { withRequestDeadline } from './request-deadline.ts';
import { withRequestInfo } from './request-info.ts';
import { withRequestMetrics } from './request-metrics.ts';
import { type RequestObserver, withRequestObserver } from './request-observer.ts';
import { withRetryAfter } from './retry-after.ts';
import { type RequestLog, withSlowRequests } from './slow-requests.ts';
import { withTimeout } from './timeout.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { withTracing } from './tracing.ts';
import { withWaitGroup } from './wait-group.ts';
import { withWatchTermination } from './watch-termination.ts';
import type { ErrorWriter } from './write-error.ts';

export interface StandardFilterOptions {
  authentication: Omit<AuthenticationFilterOptions, 'metrics'>;
  authorizer: Authorizer;
  /** Absent: nothing is recorded, at no cost. */
  audit?: AuditOptions | undefined;
  /** Absent: nothing is traced, at no cost. */
  tracer?: Tracer | undefined;
  signals: LifecycleSignals;
  requests: InFlightRequests;
  watches: OpenWatches;
  metrics: ServerMetrics;
  writeError: ErrorWriter;
  onFault: (fault: RequestFault) => void;
  /** Fingerprints of requests that a supervisor has seen to end the process. Absent where there is no supervisor. */
  refusedFingerprints?: readonly string[] | undefined;
  /** Resolves when the caches have all that is acknowledged by now; only where other processes write to the store. */
  catchUp?: () => Promise<void> | undefined;
  onAuthorizationFailure?: (error: string, auditId: string) => void;
  httpLog?: HttpLog;
  requestLog?: RequestLog;
  shutdownSendRetryAfter: boolean;
  hstsDirectives: readonly string[];
  corsAllowedOrigins: readonly string[];
  goawayChance: number;
  requestTimeoutMs: number;
  /** Takes the place of the two limits. */
  flowControl?: FlowControl;
  /** Whether the newer rights to impersonate count; true where absent. */
  constrainsImpersonation?: boolean;
  /** Whether answers are compressed for clients that take it so; true where absent. */
  compressesResponses?: boolean;
  maxRequestsInFlight: number;
  maxMutatingRequestsInFlight: number;
  /** `--console` */
  console?: ConsoleFilters | undefined;
  /** StorageVersionAPI */
  storageVersions?: StorageVersionBarrier | undefined;
  /** Sends requests on that only other servers can serve; absent where nobody does. */
  peers?: Filter | undefined;
  /** Where there is nothing to be written to: what is said to whoever tries. */
  readOnlyRefusal?: string | undefined;
  /** Of those that only tests have; absent from all other servers. */
  testFilters?: { observe?: RequestObserver; faults?: Filter } | undefined;
}

/** What `--console` adds. */
export interface ConsoleFilters {
  observe: RequestObserver;
  /** Serves what needs no authentication. Is given what audits requests, since it stands in front of it. */
  serve(auditing: FrontAuditing): Filter;
}

/** For those who answer in front of the audit filter. */
export interface FrontAuditing {
  audit: Filter | undefined;
  /** Records a request that is about to be refused. */
  onRefused: ((request: IncomingRequest) => void) | undefined;
}

/** The filters of a server with these options; what is switched off is left out of the chain. */
export function standardFilters(options: StandardFilterOptions): Partial<Record<FilterName, Filter>> {
  const { audit, metrics, signals, testFilters } = options;
  const onRefused = audit && ((request: IncomingRequest): void => auditRefusal(audit.auditor, request));
  const auditFilter = audit && withAudit(audit);
  const refused = options.refusedFingerprints && withRefusedRequests(options.refusedFingerprints);
  return {
    auditId: withAuditId({ isAuditing: audit !== undefined }),
    panicGuard: withPanicGuard(options),
    pathsInstalled: withPathsInstalled(signals.muxAndDiscoveryComplete),
    requestInfo: withRequestInfo,
    ...(refused && { refusedRequests: refused.inFront, refusedRequestsOfUser: refused.ofUser }),
    ...(options.httpLog && { httpLog: withHttpLog(options.httpLog) }),
    ...(options.requestLog && { slowRequests: withSlowRequests(options.requestLog) }),
    ...(options.shutdownSendRetryAfter && { retryAfter: withRetryAfter(signals.notAcceptingNewRequest) }),
    ...(options.hstsDirectives.length > 0 && { hsts: withHsts(options.hstsDirectives) }),
    cacheControl: withCacheControl,
    ...(options.compressesResponses === false && { compression: withoutCompression }),
    ...(options.goawayChance > 0 && { goaway: withGoawayChance(options.goawayChance) }),
    watchTermination: withWatchTermination(options.watches),
    waitGroup: withWaitGroup(options.requests),
    requestDeadline: withRequestDeadline(options.requestTimeoutMs, onRefused),
    timeout: withTimeout(metrics, options.requests),
    ...(options.corsAllowedOrigins.length > 0 && { cors: withCors(options.corsAllowedOrigins) }),
    ...(options.catchUp && { catchUp: withCatchUp(options.catchUp) }),
    ...(options.console && {
      consoleRecord: withRequestObserver(options.console.observe),
      console: options.console.serve({ audit: auditFilter, onRefused }),
    }),
    authentication: withAuthentication({ ...options.authentication, metrics, ...(onRefused && { onRefused }) }),
    ...(options.tracer && { tracing: withTracing(options.tracer) }),
    ...(auditFilter && { audit: auditFilter }),
    impersonation: withImpersonation(options.authorizer, options.constrainsImpersonation ?? true, metrics),
    ...(options.readOnlyRefusal !== undefined && { readOnly: withReadOnly(options.readOnlyRefusal) }),
    concurrencyLimit: options.flowControl
      ? withPriorityAndFairness({ flowControl: options.flowControl, metrics })
      : withMaxInFlight({ readOnlyLimit: options.maxRequestsInFlight, mutatingLimit: options.maxMutatingRequestsInFlight, metrics }),
    authorization: withAuthorization({
      authorizer: options.authorizer,
      metrics,
      ...(options.onAuthorizationFailure && { onFailure: options.onAuthorizationFailure }),
    }),
    ...(options.storageVersions && { storageVersions: withStorageVersionBarrier(options.storageVersions) }),
    ...(options.peers && { peers: options.peers }),
    requestMetrics: withRequestMetrics(metrics),
    ...(testFilters?.observe && { requestRecord: withRequestObserver(testFilters.observe) }),
    ...(testFilters?.faults && { faults: testFilters.faults }),
  };
}

/** Everything here stands behind authentication; an answer that says otherwise for itself keeps its own word. */
const withCacheControl: Filter = (next) => (request) => {
  request.responseHeaders['cache-control'] = 'no-cache, private';
  return next(request);
};

/** Resources are answered as if no client took compressed answers. */
const withoutCompression: Filter = (next) => (request) => {
  if (request.info.isResourceRequest) request.exchange.headers['accept-encoding'] = undefined;
  return next(request);
};

/** `--goaway-chance`: now and then a client of HTTP/2 is asked to connect anew, so that load spreads over the servers behind a balancer. */
function withGoawayChance(chance: number, random: () => number = Math.random): Filter {
  return (next) => (request) => {
    if (request.exchange.httpVersion === '2.0' && random() < chance) request.exchange.connection.requestClose();
    return next(request);
  };
}

/** `--strict-transport-security-directives`. */
function withHsts(directives: readonly string[]): Filter {
  const value = directives.join('; ');
  return (next) => (request) => {
    request.responseHeaders['strict-transport-security'] = value;
    return next(request);
  };
}

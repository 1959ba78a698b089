import type { RequestInfo } from '../../endpoints/request.ts';
import type { Decision } from '../../api/authorization.ts';
import { ownCopy } from '../../util/own-copy.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { HistogramSeries, NumberSeries } from '../../metrics/family.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { dryRunLabel, fieldValidationLabel, routeScopeOf, scopeOf, verbLabel } from '../../endpoints/request-labels.ts';
import { Watermark } from './watermark.ts';

const COMPONENT = 'apiserver';
/** Filters whose time is told, by upstream's names (apiserver/pkg/server/config.go, DefaultBuildHandlerChain). */
export type TimedFilter = 'authentication' | 'audit' | 'constrainedimpersonation' | 'priorityandfairness' | 'authorization';

export interface ServerMetricsOptions {
  registry: MetricRegistry;
  /** Whether a resource is installed: only then do its group, version, resource and subresource become labels (CVE-2020-8552). */
  isKnownResource: (info: RequestInfo) => boolean;
}

/** The label values of a request that both are known and sum up to one series. */
interface RequestSeries {
  readonly verb: string;
  readonly dryRun: string;
  readonly labels: readonly [group: string, version: string, resource: string, subresource: string, scope: string, component: string];
  readonly totalByStatus: Map<number, NumberSeries>;
  readonly duration: HistogramSeries;
  readonly sli: HistogramSeries;
  readonly size: HistogramSeries | undefined;
  /** Of requests that have a body. */
  readonly bodySize: HistogramSeries | undefined;
  readonly isWrite: boolean;
}

/** What a server counts of its requests, by upstream's names and labels (apiserver/pkg/endpoints/metrics). */
export class ServerMetrics {
  readonly readOnlyInFlight = new Watermark();
  readonly mutatingInFlight = new Watermark();
  readonly readOnlyInQueue = new Watermark();
  readonly mutatingInQueue = new Watermark();
  readonly impersonation: ReturnType<typeof impersonationMetrics>;
  readonly #isKnownResource: (info: RequestInfo) => boolean;
  readonly #families: ReturnType<typeof registerFamilies>;
  readonly #filters: Readonly<Record<TimedFilter, HistogramSeries>>;
  /** By resource, so that no text is made to find them; there are as many as known combinations of labels. */
  readonly #series = new Map<string, readonly RequestSeries[]>();

  constructor({ registry, isKnownResource }: ServerMetricsOptions) {
    this.#isKnownResource = isKnownResource;
    this.#families = registerFamilies(registry);
    this.impersonation = impersonationMetrics(registry);
    const filters = registry.family('apiserver_request_filter_duration_seconds');
    this.#filters = {
      authentication: filters.with('authentication'),
      audit: filters.with('audit'),
      constrainedimpersonation: filters.with('constrainedimpersonation'),
      priorityandfairness: filters.with('priorityandfairness'),
      authorization: filters.with('authorization'),
    };
    registry.onCollect(() => {
      this.#families.inFlight.with('readOnly').set(this.readOnlyInFlight.read());
      this.#families.inFlight.with('mutating').set(this.mutatingInFlight.read());
      this.#families.inQueue.with('readOnly').set(this.readOnlyInQueue.read());
      this.#families.inQueue.with('mutating').set(this.mutatingInQueue.read());
    });
  }

  /** A request that was handled. Paths that are neither a known resource nor a health check are not counted, as upstream does not. */
  recordRequest(request: IncomingRequest): void {
    if (!isCounted(request)) return;
    const series = this.#seriesOf(request, request.route === 'built-in');
    if (series === undefined) return;
    const { status, sentBytes } = request.exchange;
    this.#totalOf(series, status).inc();
    const seconds = (request.finishedAtMs - request.receivedAtMs) / 1000;
    series.duration.observe(seconds);
    if (series.dryRun === '') series.sli.observe(Math.max(0, seconds - request.excludedMs / 1000));
    series.size?.observe(sentBytes);
    if (series.isWrite) this.#recordWrite(request, series, seconds);
  }

  #recordWrite(request: IncomingRequest, { bodySize, verb }: RequestSeries, seconds: number): void {
    const { target, bodyBytes } = request.exchange;
    // Upstream reads the body of every deletion, for its options, and of other requests if their media type is understood.
    if (bodyBytes !== undefined || verb === 'DELETE') bodySize?.observe(bodyBytes ?? 0);
    const fieldValidation = target.includes('fieldValidation') ? request.queryValue('fieldValidation') : undefined;
    this.#families.fieldValidation.with(fieldValidationLabel(fieldValidation)).observe(seconds);
  }

  /** A filter hands the request on, or has refused it: how long it had it. */
  recordFilter(filter: TimedFilter, request: IncomingRequest, endMs: number): void {
    this.#filters[filter].observe((endMs - request.filterStartMs) / 1000);
    request.filterStartMs = endMs;
  }

  /** A request that max-in-flight refused. */
  recordDropped(request: IncomingRequest): void {
    const series = this.#seriesOf(request);
    if (series !== undefined) this.#totalOf(series, 429).inc();
  }

  /** A request that the server broke off in self-defence. */
  recordTermination(request: IncomingRequest, status: number): void {
    const series = this.#seriesOf(request);
    if (series !== undefined) this.#families.terminations.with(series.verb, ...series.labels, String(status)).inc();
  }

  /** A request whose answer had begun, and was cut off. */
  recordAbort(request: IncomingRequest): void {
    const series = this.#seriesOf(request);
    if (series === undefined) return;
    const [group, version, resource, subresource, scope] = series.labels;
    this.#families.aborts.with(series.verb, group, version, resource, subresource, scope).inc();
  }

  /** The handler of a request that has timed out came to its end (apiserver/pkg/server/filters/timeout.go). */
  recordPostTimeout(): void {
    this.#families.postTimeouts.with('timeout-handler', 'ok').inc();
  }

  trackLongRunning(request: IncomingRequest): void {
    const series = this.#seriesOf(request);
    if (series === undefined) return;
    const gauge = this.#families.longRunning.with(series.verb, ...series.labels);
    gauge.inc();
    request.onFinish(() => gauge.dec());
  }

  recordAuthentication(result: 'success' | 'failure' | 'error', durationMs: number, userName?: string): void {
    if (userName !== undefined) this.#families.authenticatedUsers.with(userCategory(userName)).inc();
    this.#families.authenticationAttempts.with(result).inc();
    this.#families.authenticationDuration.with(result).observe(durationMs / 1000);
  }

  recordAuthorization(decision: Decision['decision'], isError: boolean, durationMs: number): void {
    const result = decision === 'allow' ? 'allowed' : isError ? 'error' : decision === 'deny' ? 'denied' : 'no-opinion';
    this.#families.authorizationAttempts.with(result).inc();
    this.#families.authorizationDuration.with(result).observe(durationMs / 1000);
  }

  #totalOf(series: RequestSeries, status: number): NumberSeries {
    let total = series.totalByStatus.get(status);
    if (total === undefined) {
      total = this.#families.total.with(series.verb, series.dryRun, ...series.labels, String(status));
      series.totalByStatus.set(status, total);
    }
    return total;
  }

  #seriesOf(request: IncomingRequest, isRouted = false): RequestSeries | undefined {
    const { info, exchange } = request;
    const scope = isRouted ? routeScopeOf(info, exchange.method) : scopeOf(info);
    const verb = verbLabel(exchange.method, info, scope, exchange.headers['content-type']);
    const dryRun = exchange.target.includes('dryRun') ? dryRunLabel(request.queryValue('dryRun')) : '';
    const subresource = info.isResourceRequest ? info.subresource : pathLabel(info.path);
    const ofResource = this.#series.get(info.resource) ?? [];
    for (const known of ofResource) if (isSeriesOf(known, verb, info, subresource, scope, dryRun)) return known;
    if (info.isResourceRequest ? !this.#isKnownResource(info) : subresource === '') return undefined;
    const resource = ownCopy(info.resource);
    const series = this.#createSeries(verb, dryRun, [
      ownCopy(info.apiGroup),
      ownCopy(info.apiVersion),
      resource,
      ownCopy(subresource),
      scope,
      info.isResourceRequest ? COMPONENT : '',
    ]);
    this.#series.set(resource, [...ofResource, series]);
    return series;
  }

  #createSeries(verb: string, dryRun: string, labels: RequestSeries['labels']): RequestSeries {
    const { duration, sli, sizes, bodySizes } = this.#families;
    const [group, , resource, , scope] = labels;
    const bodyVerb = bodyVerbOf(verb, scope);
    return {
      verb,
      dryRun,
      labels,
      totalByStatus: new Map(),
      duration: duration.with(verb, dryRun, ...labels),
      sli: sli.with(verb, ...labels),
      size: verb === 'GET' || verb === 'LIST' ? sizes.with(verb, ...labels) : undefined,
      bodySize: bodyVerb === undefined || resource === '' ? undefined : bodySizes.with(resource, bodyVerb, group),
      isWrite: bodyVerb !== undefined,
    };
  }
}

/** Whether a request has come to a handler: what upstream's router refuses does not (no such method, no such type of answer, no such type of patch). */
function isCounted({ info, exchange, route }: IncomingRequest): boolean {
  if (!info.isResourceRequest) return true;
  const { status, method } = exchange;
  if (route === undefined || status === 405) return false;
  return route === 'custom' || (status !== 406 && (status !== 415 || method !== 'PATCH'));
}

function isSeriesOf(series: RequestSeries, verb: string, info: RequestInfo, subresource: string, scope: string, dryRun: string): boolean {
  const [group, version, , knownSubresource, knownScope] = series.labels;
  return (
    series.verb === verb &&
    knownScope === scope &&
    version === info.apiVersion &&
    group === info.apiGroup &&
    knownSubresource === subresource &&
    series.dryRun === dryRun
  );
}

/** The paths outside of the API that upstream counts. */
const HEALTH_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const OPENAPI_PATH = '/openapi/v3';

/** What stands for a path outside of the API; '' for those that are not counted. */
function pathLabel(path: string): string {
  if (HEALTH_PATHS.has(path)) return path;
  if (!path.startsWith(OPENAPI_PATH)) return '';
  if (path.length === OPENAPI_PATH.length) return 'openapi/v3';
  return path[OPENAPI_PATH.length] === '/' ? 'openapi/v3/' : '';
}

const BODY_VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', APPLY: 'patch', DELETE: 'delete' };

/** The `verb` of the metric of body sizes (apiserver/pkg/endpoints/handlers/metrics). */
const bodyVerbOf = (verb: string, scope: string): string | undefined =>
  verb === 'DELETE' && scope !== 'resource' ? 'delete_collection' : Object.hasOwn(BODY_VERBS, verb) ? BODY_VERBS[verb] : undefined;

const NAMED_USERS = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** Names of users do not become labels: there is no end of them, and they are nobody's business. */
function userCategory(name: string): string {
  if (NAMED_USERS.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}

function impersonationMetrics(registry: MetricRegistry) {
  const attempts = registry.family('apiserver_impersonation_attempts_total');
  const attemptSeconds = registry.family('apiserver_impersonation_attempts_duration_seconds');
  const authorizations = registry.family('apiserver_impersonation_authorization_attempts_total');
  const authorizationSeconds = registry.family('apiserver_impersonation_authorization_attempts_duration_seconds');
  const decision = (isAllowed: boolean): string => (isAllowed ? 'allowed' : 'denied');
  return {
    attempted(mode: string, isAllowed: boolean, durationMs: number): void {
      attempts.with(mode, decision(isAllowed)).inc();
      attemptSeconds.with(mode, decision(isAllowed)).observe(durationMs / 1000);
    },
    authorized(mode: string, isAllowed: boolean, durationMs: number): void {
      authorizations.with(mode || 'legacy', decision(isAllowed)).inc();
      authorizationSeconds.with(mode || 'legacy', decision(isAllowed)).observe(durationMs / 1000);
    },
  };
}

function registerFamilies(registry: MetricRegistry) {
  return {
    total: registry.family('apiserver_request_total'),
    aborts: registry.family('apiserver_request_aborts_total'),
    bodySizes: registry.family('apiserver_request_body_size_bytes'),
    fieldValidation: registry.family('field_validation_request_duration_seconds'),
    postTimeouts: registry.family('apiserver_request_post_timeout_total'),
    duration: registry.family('apiserver_request_duration_seconds'),
    sli: registry.family('apiserver_request_sli_duration_seconds'),
    sizes: registry.family('apiserver_response_sizes'),
    longRunning: registry.family('apiserver_longrunning_requests'),
    terminations: registry.family('apiserver_request_terminations_total'),
    inFlight: registry.family('apiserver_current_inflight_requests'),
    inQueue: registry.family('apiserver_current_inqueue_requests'),
    authenticatedUsers: registry.family('authenticated_user_requests'),
    authenticationAttempts: registry.family('authentication_attempts'),
    authenticationDuration: registry.family('authentication_duration_seconds'),
    authorizationAttempts: registry.family('authorization_attempts_total'),
    authorizationDuration: registry.family('authorization_duration_seconds'),
  };
}

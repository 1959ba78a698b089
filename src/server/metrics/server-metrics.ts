import type { RequestInfo } from '../../endpoints/request.ts';
import type { Decision } from '../../api/authorization.ts';
import { ownCopy } from '../../util/own-copy.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { HistogramSeries, NumberSeries } from '../../metrics/family.ts';
import type { MetricRegistry } from '../../metrics/registry.ts';
import { dryRunLabel, scopeOf, verbLabel } from './request-labels.ts';
import { Watermark } from './watermark.ts';

const COMPONENT = 'apiserver';

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
}

/** What a server counts of its requests, by upstream's names and labels (apiserver/pkg/endpoints/metrics). */
export class ServerMetrics {
  readonly readOnlyInFlight = new Watermark();
  readonly mutatingInFlight = new Watermark();
  readonly readOnlyInQueue = new Watermark();
  readonly mutatingInQueue = new Watermark();
  readonly #isKnownResource: (info: RequestInfo) => boolean;
  readonly #families: ReturnType<typeof registerFamilies>;
  /** By resource, so that no text is made to find them; there are as many as known combinations of labels. */
  readonly #series = new Map<string, readonly RequestSeries[]>();

  constructor({ registry, isKnownResource }: ServerMetricsOptions) {
    this.#isKnownResource = isKnownResource;
    this.#families = registerFamilies(registry);
    registry.onCollect(() => {
      this.#families.inFlight.with('readOnly').set(this.readOnlyInFlight.read());
      this.#families.inFlight.with('mutating').set(this.mutatingInFlight.read());
      this.#families.inQueue.with('readOnly').set(this.readOnlyInQueue.read());
      this.#families.inQueue.with('mutating').set(this.mutatingInQueue.read());
    });
  }

  /** A request that was handled. Paths that are neither a known resource nor a health check are not counted, as upstream does not. */
  recordRequest(request: IncomingRequest): void {
    const series = this.#seriesOf(request);
    if (series === undefined) return;
    const { status, sentBytes } = request.exchange;
    this.#totalOf(series, status).inc();
    const seconds = (performance.now() - request.receivedAtMs) / 1000;
    series.duration.observe(seconds);
    if (series.dryRun === '') series.sli.observe(seconds);
    series.size?.observe(sentBytes);
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

  #seriesOf(request: IncomingRequest): RequestSeries | undefined {
    const { info, exchange } = request;
    const scope = scopeOf(info);
    const verb = verbLabel(exchange.method, info, scope, exchange.headers['content-type']);
    const dryRun = exchange.target.includes('dryRun') ? dryRunLabel(request.queryValue('dryRun')) : '';
    const subresource = info.isResourceRequest ? info.subresource : info.path;
    const ofResource = this.#series.get(info.resource) ?? [];
    for (const known of ofResource) if (isSeriesOf(known, verb, info, subresource, scope, dryRun)) return known;
    if (info.isResourceRequest ? !this.#isKnownResource(info) : !HEALTH_PATHS.has(info.path)) return undefined;
    const resource = ownCopy(info.resource);
    const series = this.#createSeries(verb, dryRun, [ownCopy(info.apiGroup), ownCopy(info.apiVersion), resource, ownCopy(subresource), scope, COMPONENT]);
    this.#series.set(resource, [...ofResource, series]);
    return series;
  }

  #createSeries(verb: string, dryRun: string, labels: RequestSeries['labels']): RequestSeries {
    const { duration, sli, sizes } = this.#families;
    return {
      verb,
      dryRun,
      labels,
      totalByStatus: new Map(),
      duration: duration.with(verb, dryRun, ...labels),
      sli: sli.with(verb, ...labels),
      size: verb === 'GET' || verb === 'LIST' ? sizes.with(verb, ...labels) : undefined,
    };
  }
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

const NAMED_USERS = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

/** Names of users do not become labels: there is no end of them, and they are nobody's business. */
function userCategory(name: string): string {
  if (NAMED_USERS.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}

function registerFamilies(registry: MetricRegistry) {
  return {
    total: registry.family('apiserver_request_total'),
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

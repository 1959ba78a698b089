import { headerNames } from '../authentication/request-header.ts';
import { knownGroupVersions, openApiTypes } from '../apis/openapi-facts.ts';
import type { Authorization } from '../authorization/modes.ts';
import type { FlowController } from '../flowcontrol/controller.ts';
import { flowControlDumps } from '../flowcontrol/dumps.ts';
import type { Handler } from '../endpoints/request.ts';
import { encodeStatus } from '../endpoints/status.ts';
import { issuerHandlers } from '../kube/issuer.ts';
import type { FrontOptions } from '../server/chain.ts';
import type { StandardFilterOptions } from '../server/filters/standard-filters.ts';
import { errorWriter } from '../server/filters/write-error.ts';
import { flagzHandler, statuszHandler } from '../server/component-pages.ts';
import { InFlightRequests, OpenWatches } from '../server/in-flight.ts';
import { type VerbositySetting, flagRoutes } from '../server/debug/flag-pages.ts';
import type { InspectorSessions } from '../server/debug/inspector-session.ts';
import { type DebugRoutes, type ProfiledServer, profileRoutes } from '../server/debug/profile-pages.ts';
import { createLifecycleSignals } from '../server/lifecycle.ts';
import { registerAuditMetrics } from '../server/metrics/audit-metrics.ts';
import { registerDiscoveryCounters } from '../server/metrics/discovery-metrics.ts';
import { registerHealthMetrics } from '../server/metrics/health-metrics.ts';
import { type RuntimeWatch, eventLoopCheck, registerRuntimeMetrics } from '../server/metrics/runtime-metrics.ts';
import { registerMetaMetrics } from '../server/metrics/meta-metrics.ts';
import { shareOf } from './flow-control.ts';
import { type EffectiveVersion, printRelease } from '../options/effective-version.ts';
import { listFeatures } from '../options/feature-gates.ts';
import type { HealthCheck } from '../server/health.ts';
import { mergeMetrics } from '../workers/merged-metrics.ts';
import { type MetricsEndpointOptions, metricsEndpoint } from '../server/metrics/metrics-endpoint.ts';
import {
  type BuildInfo,
  type VersionInfo,
  registerBuildInfo,
  registerFeatures,
  registerProcessMetrics,
  registerStorageObjects,
} from '../server/metrics/process-metrics.ts';
import { INDICATORS } from '../metrics/inventory.ts';
import { MetricRegistry } from '../metrics/registry.ts';
import { ServerMetrics } from '../server/metrics/server-metrics.ts';
import { buildInfo, versionHandler } from '../server/version.ts';
import { ApiError } from '../api/errors.ts';
import type { AccessFiles } from './access.ts';
import type { Auditing } from './audit.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { printOptions } from '../options/flags/options.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import { isInstalled, knownSchema } from './served-resources.ts';
import type { OpenConsole } from './console.ts';
import type { CreatedServers } from './servers.ts';
import type { OpenPeers } from './peers.ts';
import type { StoredValues } from './stored-values.ts';
import type { OpenTracing } from './tracing.ts';

/** All that stands behind the filters, and what the filters themselves use. */
export interface FrontParts {
  foundation: Foundation;
  access: AccessFiles;
  objects: ObjectStores;
  authorization: Authorization;
  servers: CreatedServers;
  peers: OpenPeers | undefined;
  console: OpenConsole | undefined;
  auditing: Auditing | undefined;
  tracing: OpenTracing | undefined;
  flowControl: FlowController | undefined;
  /** Requests that have ended the process before; undefined where there is no supervisor. */
  refusedFingerprints: readonly string[] | undefined;
  testFilters: StandardFilterOptions['testFilters'];
  storageVersions: StandardFilterOptions['storageVersions'];
  profilers: InspectorSessions;
}

/** What the options say about everything in front of the chain. */
export function frontOptions(parts: FrontParts): FrontOptions {
  const { flowControl } = parts;
  const { options, logger, registry, securePort } = parts.foundation;
  const { stores, kubelets, values } = parts.objects;
  const indicators = new MetricRegistry(registry.selection, INDICATORS);
  const filters = filterOptions(parts);
  const debug = options.profiling ? debugRoutes({ ...filters, profilers: parts.profilers }, logger) : undefined;
  const info = buildInfo(options.kubernetesVersion);
  registerProcessMetrics(registry);
  const runtime = registerRuntimeMetrics(registry);
  parts.foundation.closers.add(() => runtime.stop());
  registerBuildInfo(registry, info);
  registerMetaMetrics(registry);
  if (options.etcdCountMetricPollPeriodMs > 0) registerStorageObjects(registry, () => stores.sizes());
  registerFeatures(registry, versionInfo(info, options.effectiveVersion), listFeatures(options.featureGates));
  return {
    filters,
    discovery: {
      schemaOfKind: knownSchema,
      serverAddress: () => `${options.externalHostname}:${securePort.value}`,
      hasStorageVersionHashes: options.featureGates.isEnabled('StorageVersionHash'),
      hasCbor: options.featureGates.isEnabled('CBORServingAndStorage'),
      counters: registerDiscoveryCounters(registry),
      peers: parts.peers?.discovery,
    },
    openApi: {
      types: openApiTypes,
      knownGroupVersions,
      release: printRelease(options.effectiveVersion.emulation),
      tellsEnums: options.featureGates.isEnabled('OpenAPIEnums'),
    },
    shutdown: {
      delayMs: options.shutdownDelayDurationMs,
      sendRetryAfter: options.shutdownSendRetryAfter,
      watchGraceMs: options.shutdownWatchTerminationGracePeriodMs,
      requestTimeoutMs: options.requestTimeoutMs,
    },
    livezGraceMs: options.livezGracePeriodMs,
    ...storageChecks(options, values, eventLoopChecks(options.livezStallLimitMs, runtime)),
    unsyncedInformers: () => stores.unsynced(),
    observeHealth: registerHealthMetrics(indicators),
    paths: new Map<string, Handler>([
      ...issuerHandlers({
        issuer: options.serviceAccountIssuer[0]!,
        jwksUri: () => options.serviceAccountJwksUri || `https://${options.externalHostname}:${securePort.value}/openid/v1/jwks`,
        publicKeys: parts.access.publicKeys,
        report: (error) =>
          logger.error('The documents of the issuer of service account tokens cannot be made; those from before stay, or there are none', { error }),
      }),
      ['/version', versionHandler(info, options.effectiveVersion)],
      ['/version/', versionHandler(info, options.effectiveVersion)],
      ['/metrics', metricsEndpoint(registry, { canReset: options.profiling, processStartMs: performance.timeOrigin, ...metricsOfAll(parts.foundation) })],
      ['/metrics/slis', metricsEndpoint(indicators)],
      ...componentPages(options, info),
    ]),
    unlistedPaths: new Map([
      ...(flowControl ? flowControlDumps(() => flowControl.levels) : []),
      ...(debug?.paths ?? []),
      ...(parts.console?.paths(parts, filters) ?? []),
    ]),
    unlistedPrefixes: debug?.prefixes ?? new Map(),
    onPrepared: parts.console?.provide,
    onHealthFailure: (endpoint, failures) => logger.module('healthz').verbose(2, 'A health check failed', { endpoint, failures }),
    onHookFinished: (name) => logger.module('hooks').verbose(1, 'A post-start hook has finished', { name }),
    onLifecycle: (name) => logger.module('genericapiserver').verbose(1, '[graceful-termination] shutdown event', { name }),
    async closeBackends() {
      // Whoever still follows a log or has a shell open would keep the server for as long as a request may take.
      kubelets.close();
      parts.console?.close();
      await Promise.all([parts.auditing?.close(), parts.tracing?.close()]);
    },
  };
}

const versionInfo = ({ gitVersion }: BuildInfo, { emulation, minCompatibility }: EffectiveVersion): VersionInfo => ({
  binary: gitVersion.replace(/^v/, ''),
  emulation: printRelease(emulation),
  minCompat: printRelease(minCompatibility),
});

/** What `--profiling` and `--debug-socket-path` serve. */
export function debugRoutes(server: ProfiledServer, setting: VerbositySetting): DebugRoutes {
  const routes = [profileRoutes(server), flagRoutes(setting)];
  return {
    paths: new Map(routes.flatMap(({ paths }) => [...paths])),
    prefixes: new Map(routes.flatMap(({ prefixes }) => [...prefixes])),
  };
}

const DEBUGGING_PATHS = ['/healthz', '/livez', '/metrics', '/readyz', '/version'];

function componentPages(options: CompletedOptions, { gitVersion }: BuildInfo): [string, Handler][] {
  const hasFlagz = options.featureGates.isEnabled('ComponentFlagz');
  const hasStatusz = options.featureGates.isEnabled('ComponentStatusz');
  const paths = [...DEBUGGING_PATHS, ...(hasFlagz ? ['/flagz'] : []), '/statusz'].toSorted();
  const status = { startMs: Date.now(), binaryVersion: gitVersion.slice(1), emulationVersion: printRelease(options.effectiveVersion.emulation), paths };
  return [
    ...(hasFlagz ? [['/flagz', flagzHandler(() => printOptions(options.flags))] satisfies [string, Handler]] : []),
    ...(hasStatusz ? [['/statusz', statuszHandler(status)] satisfies [string, Handler]] : []),
  ];
}

/** --livez-stall-limit */
const eventLoopChecks = (limitMs: number, runtime: RuntimeWatch): HealthCheck[] => (limitMs > 0 ? [eventLoopCheck(limitMs, runtime)] : []);

/** Named for etcd whatever the engine is: probes ask for these names (apiserver/pkg/server/options/etcd.go addEtcdHealthEndpoint). */
function storageChecks(
  options: CompletedOptions,
  { storage: { engine, overrides }, healthChecks }: StoredValues,
  ownChecks: readonly HealthCheck[],
): Pick<FrontOptions, 'healthChecks' | 'encryptionChecks' | 'readinessChecks'> {
  const others = [...new Set(overrides.values())];
  const checks = (name: string, othersName: string, timeoutMs: number) => [
    { name, group: name, check: () => engine.checkHealth(timeoutMs) },
    ...others.map((other, index) => ({ name: `${othersName}-${index}`, group: name, check: () => other.checkHealth(timeoutMs) })),
  ];
  return {
    healthChecks: [...checks('etcd', 'etcd-override', options.etcdHealthcheckTimeoutMs), ...ownChecks],
    encryptionChecks: healthChecks,
    readinessChecks: checks('etcd-readiness', 'etcd-override-readiness', options.etcdReadycheckTimeoutMs),
  };
}

/** Of several workers, each shows what all have counted. */
function metricsOfAll({ worker, registry }: Foundation): Pick<MetricsEndpointOptions, 'print' | 'reset'> | undefined {
  if (!worker) return undefined;
  worker.printMetrics = () => registry.printInSlices();
  worker.resetMetrics = () => registry.reset();
  return { print: async () => mergeMetrics(await worker.gatherMetrics()), reset: () => worker.tell({ type: 'reset' }) };
}

const isWorker = ({ worker }: Foundation): boolean => worker?.settings.storeUrl !== undefined;

function filterOptions({
  foundation,
  objects,
  access,
  authorization,
  servers,
  auditing,
  tracing,
  flowControl,
  peers,
  console,
  refusedFingerprints,
  testFilters,
  storageVersions,
}: FrontParts): StandardFilterOptions {
  const { options, logger, registry } = foundation;
  const { authenticator } = access.authentication;
  const metrics = new ServerMetrics({ registry, isKnownResource: (info) => isInstalled(foundation.servers.value, info) });
  const auditCounters = registerAuditMetrics(registry);
  const httpLog = logger.module('httplog');
  const traceLog = logger.module('trace');
  return {
    constrainsImpersonation: options.featureGates.isEnabled('ConstrainedImpersonation'),
    compressesResponses: options.featureGates.isEnabled('APIResponseCompression'),
    authentication: {
      keepsUnknownClients: !options.featureGates.isEnabled('UnauthenticatedHTTP2DOSMitigation'),
      authenticator: console?.authenticator(authenticator) ?? authenticator,
      proxyHeaders: proxyHeaders(options),
      onFailure: (error, auditId) => logger.module('authentication').verbose(2, 'A request could not be authenticated', { error, auditId }),
    },
    authorizer: authorization.authorizer,
    audit: auditing?.start(auditCounters),
    tracer: tracing?.tracer,
    signals: createLifecycleSignals(),
    requests: new InFlightRequests(),
    watches: new OpenWatches(),
    metrics,
    writeError: errorWriter((mediaType, status) => encodeStatus(servers.environment, mediaType, status)),
    onFault: ({ error, auditId }) => logger.error('A request failed', { error: faultText(error), auditId }),
    onAuthorizationFailure: (error, auditId) => logger.error('Authorization failed', { error, auditId }),
    httpLog: { isOn: () => httpLog.verbosity >= 3, write: (entry) => httpLog.verbose(3, 'HTTP', { ...entry }) },
    requestLog: {
      warn: (message, fields) => logger.warn(message, fields),
      isTracing: () => traceLog.verbosity >= 2,
      trace: (lines) => traceLog.verboseLines(2, lines),
    },
    shutdownSendRetryAfter: options.shutdownSendRetryAfter,
    hstsDirectives: options.strictTransportSecurityDirectives,
    corsAllowedOrigins: options.corsAllowedOrigins,
    goawayChance: options.goawayChance,
    requestTimeoutMs: options.requestTimeoutMs,
    ...(flowControl && { flowControl }),
    refusedFingerprints,
    peers: peers?.filter,
    console: console && { observe: console.observe, serve: (front) => console.filter(authenticator, front) },
    testFilters,
    readOnlyRefusal: foundation.replay?.refusal,
    storageVersions,
    ...(isWorker(foundation) && { catchUp: () => objects.stores.catchUp() }),
    maxRequestsInFlight: shareOf(options.maxRequestsInflight, foundation.worker),
    maxMutatingRequestsInFlight: shareOf(options.maxMutatingRequestsInflight, foundation.worker),
  };
}

/** An answer of our own making says all in its message; of anything else we want to know where it came from. */
const faultText = (error: unknown): string =>
  error instanceof Error ? (error instanceof ApiError ? error.message : (error.stack ?? error.message)) : String(error);

/** The front proxy's headers, which nobody behind authentication is to see. */
function proxyHeaders(options: CompletedOptions): { names: string[]; prefixes: string[] } {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = headerNames({
    usernameHeaders: options.requestheaderUsernameHeaders,
    uidHeaders: options.requestheaderUidHeaders,
    groupHeaders: options.requestheaderGroupHeaders,
    extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
  });
  return { names: [...usernameHeaders, ...uidHeaders, ...groupHeaders], prefixes: [...extraHeaderPrefixes] };
}

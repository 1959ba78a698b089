import type { Handler } from '../endpoints/request.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import type { Exchange } from '../serving/exchange.ts';
import type { Listener } from '../serving/listener.ts';
import { type DiscoveryOptions, withDiscovery } from './discovery/handler.ts';
import { builtDescriptions } from './openapi/descriptions.ts';
import type { DocumentSources } from './openapi/documents.ts';
import { withOpenApi } from './openapi/handler.ts';
import { chainFilters } from './filters/order.ts';
import { type StandardFilterOptions, standardFilters } from './filters/standard-filters.ts';
import type { GenericServer } from './generic-server.ts';
import { inBootOrder } from './boot-checks.ts';
import { Health, type HealthCheck, LOG, LOOPBACK_CERTIFICATE, PING, informerSyncCheck, shutdownCheck } from './health.ts';
import { Hooks } from './hooks.ts';
import type { InProcessClient } from './in-process-client.ts';
import { type ShutdownOptions, runUntil } from './lifecycle.ts';
import type { HealthObserver } from './metrics/health-metrics.ts';
import { type Rehearse, rehearser } from './rehearsal.ts';
import type { RemoteApis, RemoteVersion } from './remote-apis.ts';
import { IncomingRequest } from './server-request.ts';

/**
 * The three servers, joined tail first: not found ← extensions ← kube ← aggregator. A request enters at the aggregator, behind one set of filters, and
 * goes on to the next server when the path is not one's own.
 */
export interface ServerChain {
  extensions: GenericServer;
  kube: GenericServer;
  aggregator: GenericServer;
  client: InProcessClient;
  /** What servers elsewhere add to the documents. */
  remoteApis: RemoteApis;
}

/** What stands in front of the chain, and how it ends. */
export interface FrontOptions {
  filters: StandardFilterOptions;
  discovery: Omit<DiscoveryOptions, 'installed' | 'remote'>;
  openApi: Omit<DocumentSources, 'installed' | 'remote' | 'descriptions'>;
  shutdown: ShutdownOptions;
  livezGraceMs: number;
  /** The store: its failure makes the server unready, and dead. */
  healthChecks: readonly HealthCheck[];
  /** Key services: their failure makes the server unready, but no restart would mend it. */
  encryptionChecks: readonly HealthCheck[];
  readinessChecks: readonly HealthCheck[];
  /** The resources whose caches are not what the store is. */
  unsyncedInformers: () => readonly string[];
  observeHealth: HealthObserver;
  paths: ReadonlyMap<string, Handler>;
  /** Served, but not named by `/`. */
  unlistedPaths: ReadonlyMap<string, Handler>;
  /** Everything below these paths, but for paths that are served by themselves. */
  unlistedPrefixes: ReadonlyMap<string, Handler>;
  onHealthFailure?: (endpoint: string, failures: readonly string[]) => void;
  onLifecycle?: (event: string) => void;
  onHookFinished?: (name: string) => void;
  /** Is given how handlers send requests of their own through the chain. */
  onPrepared?: ((rehearse: Rehearse) => void) | undefined;
  closeBackends(): Promise<void>;
}

/** Every path is installed; it can be served. */
export interface PreparedServer {
  /** Serves on what `listen` opens and runs the post-start hooks; shuts down in order when `stop` aborts. Rejects when it cannot listen. */
  run(listen: Listen, stop: AbortSignal): Promise<RunningChain>;
}

export type Listen = (onExchange: (exchange: Exchange) => void) => Promise<Listener>;

export interface RunningChain {
  listener: Listener;
  /** Resolves when every post-start hook has finished; rejects when one failed: the server cannot go on then. */
  ready: Promise<void>;
  /** Resolves when all is closed. */
  stopped: Promise<void>;
}

/** Puts discovery, health, metrics and the filters in front of the chain. */
export function prepareRun(chain: ServerChain, options: FrontOptions): PreparedServer {
  const servers = [chain.aggregator, chain.kube, chain.extensions];
  const head = chain.aggregator;
  const { signals } = options.filters;
  const health = new Health({
    livezGraceMs: options.livezGraceMs,
    observe: options.observeHealth,
    onFirstReady: () => signals.hasBeenReady.signal(),
    ...(options.onHealthFailure && { log: options.onHealthFailure }),
  });
  const failures: Error[] = [];
  const bootChecks: HealthCheck[] = [];
  const hooks = new Hooks({
    addHealthCheck: (check) => bootChecks.push(check),
    onFatal: (error) => failures.push(error),
    ...(options.onHookFinished && { onFinished: options.onHookFinished }),
  });

  for (const server of servers) {
    server.postStartHooks.forEach((hook) => hooks.addPostStart(hook));
    server.preShutdownHooks.forEach((hook) => hooks.addPreShutdown(hook));
    bootChecks.push(...server.healthChecks);
  }
  health.addChecks(PING, LOG);
  health.addHealthzChecks(LOOPBACK_CERTIFICATE);
  health.addLivezChecks(0, LOOPBACK_CERTIFICATE);
  health.addChecks(...options.healthChecks);
  health.addHealthzChecks(...options.encryptionChecks);
  health.addReadyzChecks(...options.readinessChecks, ...options.encryptionChecks, informerSyncCheck(options.unsyncedInformers));
  health.addBootChecks(...inBootOrder(bootChecks));
  health.addReadyzChecks(shutdownCheck(signals.shutdownInitiated));

  for (const [path, handler] of [...options.paths, ...health.handlers()]) head.route(path, handler);
  for (const [path, handler] of options.unlistedPaths) head.route(path, handler, { isListed: false });
  for (const [prefix, handler] of options.unlistedPrefixes) head.routePrefix(prefix, handler);
  head.route('/', indexHandler(servers, chain.remoteApis));
  const installed = installedVersions(servers, chain.remoteApis);
  const documented = withOpenApi(
    { ...options.openApi, installed, remote: chain.remoteApis, descriptions: builtDescriptions() },
    withDiscovery({ ...options.discovery, installed, remote: () => chain.remoteApis.versions(), registered: () => chain.remoteApis.registered() }, head.handle),
  );
  signals.muxAndDiscoveryComplete.signal();

  const filters = standardFilters(options.filters);
  const handler = chainFilters(filters, documented);
  options.onPrepared?.(rehearser(filters, options.filters.metrics, documented));
  return {
    async run(listen, stop) {
      const listener = await listen((exchange) => void handler(new IncomingRequest(exchange)));
      const ready = hooks.runPostStart(stop).then(() => {
        if (failures.length > 0) throw failures[0];
      });
      return { listener, ready, stopped: serveUntil(stop, options, hooks, listener) };
    },
  };
}

/** All servers' versions in one array, the same one until a server has installed another. What is served elsewhere is not among them. */
function installedVersions(servers: readonly GenericServer[], remoteApis: RemoteApis): () => readonly ApiVersion[] {
  let generation = -1;
  let remote: readonly RemoteVersion[] | undefined;
  let versions: readonly ApiVersion[] = [];
  return () => {
    const current = servers.reduce((sum, server) => sum + server.generation, 0);
    if (current === generation && remoteApis.versions() === remote) return versions;
    generation = current;
    remote = remoteApis.versions();
    const isElsewhere = ({ group, version }: ApiVersion): boolean => remote!.some((other) => other.group === group && other.version === version);
    versions = servers.flatMap((server) => server.versions).filter((version) => !isElsewhere(version));
    return versions;
  };
}

/** `/`: every path there is, for people who look around. */
function indexHandler(servers: readonly GenericServer[], remoteApis: RemoteApis): Handler {
  return ({ exchange }) => {
    const groups = [...servers.flatMap((server) => server.versions), ...remoteApis.versions()].flatMap(({ group, version }) =>
      group === '' ? ['/api', `/api/${version}`] : ['/apis', `/apis/${group}`, `/apis/${group}/${version}`],
    );
    const paths = [...new Set([...groups, '/openapi/v2', '/openapi/v3', '/openapi/v3/', ...servers.flatMap((server) => server.paths)])]
      .filter((path) => path !== '/')
      .sort();
    exchange.respond(200, { 'content-type': 'application/json' }, JSON.stringify({ paths }, null, 2));
  };
}

function serveUntil(stop: AbortSignal, { filters, shutdown, closeBackends, onLifecycle }: FrontOptions, hooks: Hooks, listener: Listener): Promise<void> {
  return runUntil(stop, shutdown, {
    signals: filters.signals,
    requests: filters.requests,
    watches: filters.watches,
    runPreShutdownHooks: () => hooks.runPreShutdown(),
    async stopServing(graceMs, onStoppedListening) {
      const closed = listener.close({ graceMs });
      onStoppedListening();
      await closed;
    },
    closeBackends,
    ...(onLifecycle && { log: onLifecycle }),
  });
}

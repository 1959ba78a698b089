import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Client } from '../client/client.ts';
import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import { queueMetricsOf } from '../controllers/work-queue-metrics.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { RemoteApis } from '../server/remote-apis.ts';
import { type CustomVersions, keepCustomApiServices } from './custom-api-services.ts';
import { type ApiService, registerLocalApiServices } from './local-api-services.ts';
import { LocalRegistrations } from './local-registrations.ts';
import { MergedApis } from './merged-apis.ts';
import { countTerminations, countUnreachable, registerAvailabilityMetrics } from './metrics.ts';
import { reach } from './reach.ts';
import type { RemoteEnvironment } from './remote-api.ts';
import { keepRemoteAvailability } from './remote-availability.ts';
import { RemoteDiscovery } from './remote-discovery.ts';
import { RemoteOpenApi } from './remote-openapi.ts';
import { RemoteRegistry } from './remote-registry.ts';
import { WholeClient } from './remote-resources.ts';
import { onAbort } from '../util/on-abort.ts';

export interface AggregatorOptions {
  environment: EndpointEnvironment;
  /** The aggregator's own group: APIServices. */
  ownVersion: ApiVersion;
  /** What the servers behind it serve, to be registered. */
  localVersions: readonly ApiVersion[];
  /** What definitions add to that, as they come and go. */
  customVersions: CustomVersions;
  /** How servers elsewhere are reached. */
  remote: RemoteEnvironment;
  /** Whether they are there to be reached; else what APIServices name is not served by them. */
  reachesServers: boolean;
  client: InProcessClient;
  metrics: MetricRegistry;
  /** Called with failures that are tried again. */
  report(error: Error): void;
  now: () => Date;
}

export interface Aggregator {
  server: GenericServer;
  /** What servers elsewhere add to the documents. */
  remoteApis: RemoteApis;
  /** Resolves once every APIService that is stored is known. */
  synced: Promise<void>;
  /** The client with what servers elsewhere have beside what it has; ends with `close`. */
  withRemoteResources(client: Client): Client;
  /** After a change of our own certificate. */
  refreshTls(): void;
  /** Ends connections to other servers, and what is under way on them. */
  close(): void;
}

/**
 * The head of the chain. It knows which group-version is served where: by a server elsewhere, behind an APIService with a `service`, or by the servers
 * behind it, to which everything else is handed on.
 */
export function createAggregator(options: AggregatorOptions, delegate: Handler): Aggregator {
  const { client, report } = options;
  const stop = new AbortController();
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices').informer;
  const registry = new RemoteRegistry({ ...options.remote, onRefused: countTerminations(options.metrics) });
  const queueMetrics = queueMetricsOf(options.metrics);
  const discovery = new RemoteDiscovery(registry, {
    signal: stop.signal,
    report,
    queueMetrics,
    onUnreachable: countUnreachable(options.metrics),
    onChange: () => merged.noteDiscovery(),
  });
  const openApi = new RemoteOpenApi(registry, { signal: stop.signal, report, queueMetrics, onChange: () => merged.noteOpenApi() });
  const registrations = new LocalRegistrations(apiServices);
  const merged = new MergedApis(registry, registrations, discovery, openApi);
  const synced = options.reachesServers ? registry.follow(apiServices) : apiServices.synced;

  const server = new GenericServer('aggregator', options.environment, registry.before(delegate));
  server.install(options.ownVersion);
  addRegistration(server, options, registrations);
  let availability: Promise<void> | undefined;
  /** One controller tells both of servers elsewhere and of what is served here. */
  const keepAvailable = (signal: AbortSignal): Promise<void> => (availability ??= keepAvailability(registry, options, apiServices, signal));
  let documents: Promise<void> | undefined;
  /** One reads both of a server's documents. */
  const followDocuments = (signal: AbortSignal): Promise<void> => (documents ??= synced.then(() => startUntil(openApi, signal, stop)));
  server.postStartHooks.push(
    { name: 'start-kube-aggregator-informers', run: () => informersSynced(client) },
    { name: 'apiservice-status-local-available-controller', run: keepAvailable },
    { name: 'apiservice-status-remote-available-controller', run: keepAvailable },
    { name: 'apiservice-registration-controller', run: () => synced },
    { name: 'apiservice-discovery-controller', run: () => discovery.start() },
    { name: 'apiservice-openapi-controller', run: followDocuments },
    { name: 'apiservice-openapiv3-controller', run: followDocuments },
  );
  return {
    server,
    remoteApis: merged,
    synced,
    withRemoteResources: (local) =>
      new WholeClient(local, {
        versions: () => merged.versions(),
        api: (group, version) => registry.serving(group, version),
        onChange: (listener) => merged.onDiscovery(listener),
        signal: stop.signal,
      }),
    refreshTls: () => registry.refreshTls(),
    close() {
      stop.abort();
      registry.close();
    },
  };
}

/** What APIServices refer to. */
async function informersSynced(client: InProcessClient): Promise<void> {
  const resources = [
    client.resource('apiregistration.k8s.io', 'apiservices'),
    client.resource('', 'services'),
    client.resource('discovery.k8s.io', 'endpointslices'),
  ];
  await Promise.all(resources.map(({ informer }) => informer.synced));
}

/** The group-versions that the chain serves are APIServices too. */
function addRegistration(
  server: GenericServer,
  { client, localVersions, customVersions, metrics, report, now }: AggregatorOptions,
  registrations: LocalRegistrations,
): void {
  let isRegistered = false;
  server.healthChecks.push({
    name: 'autoregister-completion',
    check() {
      if (!isRegistered) throw new Error('missing APIServices: the first registration is not complete');
    },
  });
  server.postStartHooks.push({
    name: 'kube-apiserver-autoregistration',
    async run(signal) {
      const apiServices = client.resource<ApiService>('apiregistration.k8s.io', 'apiservices');
      await registerLocalApiServices(apiServices, localVersions, now);
      isRegistered = true;
      registrations.complete();
      await keepCustomApiServices(apiServices, customVersions, { signal, report, now, queueMetrics: queueMetricsOf(metrics) });
    },
  });
}

function keepAvailability(
  registry: RemoteRegistry,
  { client, metrics, report, now }: AggregatorOptions,
  apiServices: Parameters<typeof registerAvailabilityMetrics>[1],
  signal: AbortSignal,
): Promise<void> {
  return keepRemoteAvailability(client, {
    signal,
    report,
    now,
    queueMetrics: queueMetricsOf(metrics),
    async reach(name) {
      const api = registry.get(name);
      if (api) await reach(api);
    },
    onSuspicion: (listener) => registry.onUnreachable(listener),
    onUnavailable: registerAvailabilityMetrics(metrics, apiServices),
  });
}

/** Once the server stops nobody asks for documents any more. */
function startUntil(openApi: RemoteOpenApi, signal: AbortSignal, stop: AbortController): void {
  if (signal.aborted) return;
  onAbort(signal, () => stop.abort());
  openApi.start();
}

import { hostname } from 'node:os';
import { AdmissionChain } from '../admission/chain.ts';
import type { PluginConfigurations } from '../admission/configuration.ts';
import { AdmissionMetrics } from '../admission/metrics.ts';
import type { PluginEnvironment, PluginOptions } from '../admission/plugin.ts';
import { createPlugins } from '../admission/plugins.ts';
import type { RemoteEnvironment } from '../aggregator/remote-api.ts';
import { type Aggregator, createAggregator } from '../aggregator/server.ts';
import { type IsServed, builtInApiVersions } from '../apis/api-versions.ts';
import { apiServices } from '../apis/apiregistration/api-service.ts';
import type { KindSettings } from '../registry/write.ts';
import { featuresWhere } from '../apis/features.ts';
import { withSettings } from '../apis/with-settings.ts';
import { groupVersions } from '../apis/facts/resources.ts';
import { hasKind, schemaOfKind } from '../apis/facts/schemas.ts';
import type { AuthorizationMetrics } from '../authorization/metrics.ts';
import { type Authorization, type PreparedAuthorizers, createAuthorization } from '../authorization/modes.ts';
import { definitionsWithRules } from '../extensions/rules/definition-rules.ts';
import { createExtensions } from '../extensions/server.ts';
import type { Handler, RequestInfo } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import { type ServiceAddress, clusterAddresses, endpointAddresses, withLoopback } from '../client/service-address.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import { accessChecks } from '../kube/access-checks.ts';
import { createServiceAllocators } from '../kube/allocation/service-allocators.ts';
import { ComponentStatusStore, type Probed, defaultProbes } from '../kube/component-status-store.ts';
import { logFilesHandler } from '../kube/log-files.ts';
import { createKube, openKubeStores } from '../kube/server.ts';
import type { TokenReader } from '../apis/authentication/reviews.ts';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import type { BootstrapOptions, ServerRecords } from '../kube/bootstrap/hooks.ts';
import { ownMasterLease, storedMasterLeases } from '../kube/bootstrap/master-leases.ts';
import { noPeerEndpoints, storedPeerEndpoints } from '../kube/bootstrap/peer-endpoints.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import { type KubeletOptions, Kubelets } from '../kube/kubelet/kubelets.ts';
import { ProxyTransports } from '../kube/proxy/transports.ts';
import { dialDirectly } from '../util/dial.ts';
import { StreamMetrics } from '../kube/kubelet/metrics.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ServerChain } from '../server/chain.ts';
import type { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import type { MetricRegistry } from '../server/metrics/registry.ts';
import { notFoundHandler } from '../server/not-found.ts';
import { Stores, type StoresOptions } from '../server/stores.ts';
import type { KeyPair } from '../serving/certificates/pem.ts';
import type { Reloadable } from '../serving/certificates/reload.ts';
import { watchSockets } from '../serving/websocket/watches.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import type { Engine } from '../storage/engine.ts';
import { isUnspecified } from '../util/cidr.ts';
import { serverIdentity } from '../util/server-identity.ts';
import type { CompletedOptions } from './completion.ts';
import type { Egress } from './egress.ts';
import type { OpenStorage } from './storage.ts';
import type { StoredValues } from './stored-values.ts';

export interface ChainParts {
  values: Pick<StoredValues, 'storage' | 'encoding'>;
  /** What the stores of this chain join. */
  client: InProcessClient;
  readToken: TokenReader;
  authorizers: PreparedAuthorizers;
  authorizationMetrics: AuthorizationMetrics;
  tokenIssuer: TokenIssuerOptions | undefined;
  bootstrap: BootstrapOptions;
  /** --admission-control-config-file */
  pluginConfigurations: PluginConfigurations;
  registry: MetricRegistry;
  /** --egress-selector-config-file */
  egress: Egress;
  /** --proxy-client-cert-file */
  proxyClient: Reloadable<KeyPair> | undefined;
  now: () => Date;
}

export interface CreatedChain extends ServerChain {
  authorizer: Authorizer;
  authorization: Authorization;
  kubelets: Kubelets;
  proxyTransports: ProxyTransports;
  aggregation: Aggregator;
  stores: Stores;
  environment: EndpointEnvironment;
  /** Whether a request's resource is one that is served: only such names become labels of metrics. */
  isInstalled(info: RequestInfo): boolean;
  /** Resolves once the caches are filled, and authorization knows all that is stored. */
  synced: Promise<void>;
}

/** The three servers on one store, tail first: not found ← extensions ← kube ← aggregator. */
export function createServerChain(
  options: CompletedOptions,
  {
    values: { storage, encoding },
    client,
    readToken,
    authorizers,
    authorizationMetrics,
    tokenIssuer,
    bootstrap,
    pluginConfigurations,
    registry,
    egress,
    proxyClient,
    now,
  }: ChainParts,
): CreatedChain {
  const isEnabled = (gate: string): boolean => options.featureGates.isEnabled(gate);
  const metrics = new AdmissionMetrics(registry);
  const admission = new AdmissionChain(metrics);
  const stores = new Stores({
    ...feedsOf(storage, `${options.etcdPrefix}/`),
    keyPrefix: `${options.etcdPrefix}/`,
    ...(encoding && { encoding }),
    admission,
    collectsGarbage: options.enableGarbageCollector,
    deleteWorkers: options.deleteCollectionWorkers,
    client,
    now,
  });
  const environment: EndpointEnvironment = {
    schemaOfKind: knownSchema,
    minRequestTimeoutMs: options.minRequestTimeoutSeconds * 1000,
    hasWatchList: isEnabled('WatchList'),
    hasCbor: isEnabled('CBORServingAndStorage'),
    webSockets: watchSockets,
    random: Math.random,
    now,
  };
  const isServed = servedVersions(options.runtimeConfig);

  const settings = kindSettings(options);
  const definitionStore = stores.open(withSettings(definitionsWithRules(), settings, now));
  const apiServiceStore = stores.open(withSettings(apiServices, settings, now));
  const ranges = options.serviceClusterIpRanges.filter((range) => range !== undefined);
  const { report } = bootstrap;
  const { isSingleWriter } = storage.engine;
  const allocators = createServiceAllocators({ client, stores, ranges, ports: options.serviceNodePortRange, isSingleWriter, report, now });
  const kubelets = new Kubelets(client, { ...kubeletOptions(options), dial: egress.cluster });
  const proxyTransports = new ProxyTransports(egress.cluster ?? dialDirectly, options.maxConnectionBytesPerSec);
  const kubeStores = openKubeStores(
    stores,
    { allocators, eventTtlSeconds: options.eventTtlMs / 1000, now, settings },
    {
      client,
      tokenIssuer,
      isEnabled,
      now,
      kubelets,
      proxyTransports,
      metrics: new StreamMetrics(registry),
      // Authorization reads the stores that are opened here.
      authorizer: { authorize: (attributes) => authorizer.authorize(attributes) },
    },
  );
  const authorization = createAuthorization(authorizers, { client, isEnabled, metrics: authorizationMetrics });
  const { authorizer, rbac } = authorization;
  const addressOf = options.enableAggregatorRouting ? endpointAddresses(client) : clusterAddresses(client);
  const webhookRoutes: WebhookRoutes = { addressOf, dialService: egress.cluster, dialUrl: egress.controlplane };
  const plugins = createPlugins(admissionPlugins(options), {
    client,
    authorizer,
    isEnabled,
    kindSettings: settings,
    isServed: isServedByName(isServed),
    metrics,
    options: { ...pluginOptions(options), webhookRoutes, configurations: pluginConfigurations },
  });
  const resourceOf = (group: string, version: string, kind: string): string | undefined => servedResource(servers, group, version, kind);
  admission.use(plugins, accessChecks({ client, authorizer, rules: rbac, resourceOf }));

  const componentStatuses = new ComponentStatusStore(admission, defaultProbes(storageProbe(storage.engine))) as unknown as ResourceStore;

  const {
    server: extensions,
    customResources,
    synced: customResourcesSynced,
  } = createExtensions(
    {
      environment,
      ownVersion: builtInApiVersions([definitionStore], isServed)[0]!,
      stores,
      client,
      metrics: registry,
      webhookRoutes,
      isSingleWriter,
      report,
      now,
    },
    notFoundHandler as Handler,
  );
  const kube = createKube(
    {
      environment,
      stores,
      client,
      authorizer,
      readToken,
      bootstrap,
      records: serverRecords(stores, isSingleWriter),
      isServed,
      isEnabled,
      componentStatuses,
    },
    kubeStores,
    extensions.handle,
  );
  kube.postStartHooks.push(allocators.repair);
  if (options.enableLogsHandler) serveLogFiles(kube);
  // The in-process client's informers are the caches of the stores.
  const loaded = (): Promise<void> => stores.loaded();
  kube.postStartHooks.push(
    { name: 'start-apiserver-admission-initializer', run: loaded },
    { name: 'generic-apiserver-start-informers', run: loaded },
    { name: 'storage-object-count-tracker-hook', run: loaded },
  );
  if (isEnabled('WatchCacheInitializationPostStartHook')) kube.postStartHooks.push({ name: 'storage-readiness', run: loaded });
  const localVersions = [...kube.versions, ...extensions.versions];
  const aggregation = createAggregator(
    {
      environment,
      ownVersion: builtInApiVersions([apiServiceStore], isServed)[0]!,
      localVersions,
      customVersions: customResources,
      remote: { ...remoteEnvironment(options, addressOf, bootstrap, proxyClient), dial: egress.cluster },
      client,
      metrics: registry,
      report,
      now,
    },
    kube.handle,
  );
  proxyClient?.onChange(() => aggregation.refreshTls());
  const aggregator = aggregation.server;
  const servers: GenericServer[] = [aggregator, kube, extensions];
  return {
    extensions,
    kube,
    aggregator,
    aggregation,
    remoteApis: aggregation.remoteApis,
    client,
    authorizer,
    authorization,
    kubelets,
    proxyTransports,
    stores,
    environment,
    isInstalled: (info) => servers.some((server) => server.hasResource(info)),
    synced: Promise.all([stores.loaded(), customResourcesSynced, authorization.synced, allocators.prepare(), aggregation.synced]).then(() => undefined),
  };
}

function serveLogFiles(kube: GenericServer): void {
  const handler = logFilesHandler();
  kube.route('/logs', handler);
  kube.routePrefix('/logs/', handler);
}

/** A server that has its store for itself need not write that it lives. */
function serverRecords(stores: Stores, isSingleWriter: boolean): ServerRecords {
  if (isSingleWriter) return { masterLeases: ownMasterLease(), peerEndpoints: noPeerEndpoints };
  const schema = schemaOfKind('', 'v1', 'Endpoints');
  return {
    masterLeases: storedMasterLeases(stores.openUnserved(schema, 'masterleases', 'apiServerIPInfo')),
    peerEndpoints: storedPeerEndpoints(stores.openUnserved(schema, 'peerserverleases', 'apiServerPeerIPInfo'), serverIdentity(hostname(), 'kube-apiserver')),
  };
}

/** How servers behind APIServices are reached, and who we are to them. */
function remoteEnvironment(
  options: CompletedOptions,
  others: ServiceAddress,
  bootstrap: BootstrapOptions,
  proxyClient: Reloadable<KeyPair> | undefined,
): RemoteEnvironment {
  const host = isUnspecified(options.bindAddress) ? '127.0.0.1' : options.bindAddress;
  return {
    addressOf: withLoopback(others, () => ({ host, port: bootstrap.securePort })),
    clientCertificate: () => proxyClient?.current,
    rejectsRedirects: options.aggregatorRejectForwardingRedirect,
    sendsUid: options.featureGates.isEnabled('RemoteRequestHeaderUID'),
  };
}

/** One feed an engine. */
function feedsOf({ engine, overrides }: OpenStorage, prefix: string): Pick<StoresOptions, 'feed' | 'feedOverrides'> {
  const feeds = new Map([engine, ...overrides.values()].map((each) => [each, new CacheFeed(each, { prefix })]));
  return { feed: feeds.get(engine)!, feedOverrides: new Map([...overrides].map(([resource, each]) => [resource, feeds.get(each)!])) };
}

/** The store, as the component that upstream's clusters have in its place. */
const storageProbe = (engine: Engine) => async (): Promise<Probed> => {
  try {
    await engine.checkHealth();
    return { isHealthy: true, message: 'ok' };
  } catch (error) {
    return { isHealthy: false, message: '', error: (error as Error).message };
  }
};

/** The plural of a kind that one of the servers has installed. */
function servedResource(servers: readonly GenericServer[], group: string, version: string, kind: string): string | undefined {
  const installed = servers.flatMap((server) => server.versions).find((candidate) => candidate.group === group && candidate.version === version);
  return [...(installed?.resources.values() ?? [])].find(({ served }) => served.kind === kind)?.definition.plural;
}

export const kindSettings = ({ featureGates, allowPrivileged }: CompletedOptions): KindSettings => ({
  features: featuresWhere((feature) => featureGates.isEnabled(feature)),
  allowsPrivileged: allowPrivileged,
});

/** A plug-in that is a feature goes with it. */
const admissionPlugins = ({ admissionPlugins: names, featureGates }: CompletedOptions): string[] =>
  names.filter((name) => name !== 'MutatingAdmissionPolicy' || featureGates.isEnabled(name));

const kubeletOptions = (options: CompletedOptions): KubeletOptions => ({
  preferredAddressTypes: options.kubeletPreferredAddressTypes,
  port: options.kubeletPort,
  timeoutMs: options.kubeletTimeoutMs,
  certificateAuthorityFile: options.kubeletCertificateAuthority,
  clientCertificateFile: options.kubeletClientCertificate,
  clientKeyFile: options.kubeletClientKey,
  upgradedBytesPerSecond: options.maxConnectionBytesPerSec,
});

const pluginOptions = (options: CompletedOptions): Omit<PluginOptions, 'webhookRoutes'> => ({
  notReadyTolerationSeconds: options.defaultNotReadyTolerationSeconds,
  unreachableTolerationSeconds: options.defaultUnreachableTolerationSeconds,
});

const knownSchema: EndpointEnvironment['schemaOfKind'] = (group, version, kind) =>
  hasKind(group, version, kind) ? schemaOfKind(group, version, kind) : undefined;

/** --runtime-config: the most particular key wins (apiserver/pkg/server/resourceconfig). The two servers at the ends serve their own group always. */
function servedVersions(config: ReadonlyMap<string, boolean>): IsServed {
  return ({ group, groupVersion, stability, isOnByDefault }, plural) => {
    if (group === 'apiextensions.k8s.io' || group === 'apiregistration.k8s.io') return true;
    const key = group === '' ? `/${groupVersion}` : groupVersion;
    return (
      config.get(`${key}/${plural}`) ??
      config.get(key) ??
      config.get(`api/${stability === 'stable' ? 'ga' : stability}`) ??
      config.get('api/all') ??
      isOnByDefault
    );
  };
}

/** The same by name. What is not built in is served where it is defined. */
const isServedByName =
  (isServed: IsServed): PluginEnvironment['isServed'] =>
  (group, version, plural) => {
    const facts = groupVersions.find((candidate) => candidate.group === group && candidate.version === version);
    return !facts || isServed(facts, plural);
  };

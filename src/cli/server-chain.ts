import { AdmissionChain } from '../admission/chain.ts';
import type { PluginConfigurations } from '../admission/configuration.ts';
import type { PluginOptions } from '../admission/plugin.ts';
import { createPlugins } from '../admission/plugins.ts';
import { createAggregator } from '../aggregator/server.ts';
import { type IsServed, builtInApiVersions } from '../apis/api-versions.ts';
import { apiServices } from '../apis/apiregistration/api-service.ts';
import { hasKind, schemaOfKind } from '../apis/facts/schemas.ts';
import { type Authorization, type PreparedAuthorizers, createAuthorization } from '../authorization/modes.ts';
import { definitionsWithRules } from '../extensions/rules/definition-rules.ts';
import { createExtensions } from '../extensions/server.ts';
import type { Handler, RequestInfo } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import { accessChecks } from '../kube/access-checks.ts';
import { createServiceAllocators } from '../kube/allocation/service-allocators.ts';
import { ComponentStatusStore, type Probed, defaultProbes } from '../kube/component-status-store.ts';
import { createKube, openKubeStores } from '../kube/server.ts';
import type { TokenReader } from '../apis/authentication/reviews.ts';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import type { BootstrapOptions } from '../kube/bootstrap/hooks.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ServerChain } from '../server/chain.ts';
import type { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import { notFoundHandler } from '../server/not-found.ts';
import { Stores } from '../server/stores.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import type { Engine } from '../storage/engine.ts';
import type { CompletedOptions } from './completion.ts';

export interface ChainParts {
  engine: Engine;
  /** What the stores of this chain join. */
  client: InProcessClient;
  readToken: TokenReader;
  authorizers: PreparedAuthorizers;
  tokenIssuer: TokenIssuerOptions | undefined;
  bootstrap: BootstrapOptions;
  /** --admission-control-config-file */
  pluginConfigurations: PluginConfigurations;
  now: () => Date;
}

export interface CreatedChain extends ServerChain {
  authorizer: Authorizer;
  authorization: Authorization;
  stores: Stores;
  environment: EndpointEnvironment;
  /** Whether a request's resource is one that is served: only such names become labels of metrics. */
  isInstalled(info: RequestInfo): boolean;
  /** Resolves once authorization knows all that is stored. */
  synced: Promise<void>;
}

/** The three servers on one store, tail first: not found ← extensions ← kube ← aggregator. */
export function createServerChain(
  options: CompletedOptions,
  { engine, client, readToken, authorizers, tokenIssuer, bootstrap, pluginConfigurations, now }: ChainParts,
): CreatedChain {
  const admission = new AdmissionChain();
  const stores = new Stores({
    feed: new CacheFeed(engine, { prefix: `${options.etcdPrefix}/` }),
    keyPrefix: `${options.etcdPrefix}/`,
    admission,
    collectsGarbage: options.enableGarbageCollector,
    deleteWorkers: options.deleteCollectionWorkers,
    client,
    now,
  });
  const environment: EndpointEnvironment = {
    schemaOfKind: knownSchema,
    minRequestTimeoutMs: options.minRequestTimeoutSeconds * 1000,
    random: Math.random,
    now,
  };
  const isServed = servedVersions(options.runtimeConfig);

  const definitionStore = stores.open(definitionsWithRules());
  const apiServiceStore = stores.open(apiServices);
  const ranges = options.serviceClusterIpRanges.filter((range) => range !== undefined);
  const allocators = createServiceAllocators({ client, ranges, ports: options.serviceNodePortRange });
  const kubeStores = openKubeStores(
    stores,
    { allocators, eventTtlSeconds: options.eventTtlMs / 1000 },
    {
      client,
      tokenIssuer,
      now,
      preferredAddressTypes: options.kubeletPreferredAddressTypes,
      // Authorization reads the stores that are opened here.
      authorizer: { authorize: (attributes) => authorizer.authorize(attributes) },
    },
  );
  const authorization = createAuthorization(authorizers, { client, isEnabled: (gate) => options.featureGates.isEnabled(gate) });
  const { authorizer, rbac } = authorization;
  admission.use([
    ...createPlugins(options.admissionPlugins, {
      client,
      authorizer,
      isEnabled: (gate) => options.featureGates.isEnabled(gate),
      options: { ...pluginOptions(options), configurations: pluginConfigurations },
    }),
    ...accessChecks({ client, authorizer, rules: rbac, resourceOf: (group, version, kind) => servedResource(servers, group, version, kind) }),
  ]);

  const componentStatuses = new ComponentStatusStore(admission, defaultProbes(storageProbe(engine))) as unknown as ResourceStore;

  const { report } = bootstrap;
  const {
    server: extensions,
    customResources,
    synced: customResourcesSynced,
  } = createExtensions(
    { environment, ownVersion: builtInApiVersions([definitionStore], isServed)[0]!, stores, client, report, now },
    notFoundHandler as Handler,
  );
  const kube = createKube({ environment, stores, client, authorizer, readToken, bootstrap, isServed, componentStatuses }, kubeStores, extensions.handle);
  const localVersions = [...kube.versions, ...extensions.versions];
  const aggregator = createAggregator(
    { environment, ownVersion: builtInApiVersions([apiServiceStore], isServed)[0]!, localVersions, customVersions: customResources, client, report, now },
    kube.handle,
  );
  const servers: GenericServer[] = [aggregator, kube, extensions];
  return {
    extensions,
    kube,
    aggregator,
    client,
    authorizer,
    authorization,
    stores,
    environment,
    isInstalled: (info) => servers.some((server) => server.hasResource(info)),
    synced: Promise.all([customResourcesSynced, authorization.synced, allocators.restore()]).then(() => undefined),
  };
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

const pluginOptions = (options: CompletedOptions): PluginOptions => ({
  notReadyTolerationSeconds: options.defaultNotReadyTolerationSeconds,
  unreachableTolerationSeconds: options.defaultUnreachableTolerationSeconds,
  routesToEndpoints: options.enableAggregatorRouting,
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

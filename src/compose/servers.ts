import { countWeakCertificates } from '../serving/weak-certificates.ts';
import { hostname } from 'node:os';
import type { RemoteEnvironment } from '../aggregator/remote-api.ts';
import { type Aggregator, createAggregator } from '../aggregator/server.ts';
import { builtInApiVersions } from '../apis/api-versions.ts';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import type { Authorization } from '../authorization/modes.ts';
import { withLoopback } from '../client/service-address.ts';
import type { Handler } from '../endpoints/request.ts';
import { EndpointMetrics } from '../endpoints/endpoint-metrics.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import { type Extensions, createExtensions } from '../extensions/server.ts';
import type { ServerRecords } from '../kube/bootstrap/hooks.ts';
import { ownMasterLease, storedMasterLeases } from '../kube/bootstrap/master-leases.ts';
import { noPeerEndpoints, storedPeerEndpoints } from '../kube/bootstrap/peer-endpoints.ts';
import { ComponentStatusStore, type Probed, defaultProbes } from '../kube/component-status-store.ts';
import { logFilesHandler } from '../kube/log-files.ts';
import { createKube } from '../kube/server.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { ServerChain } from '../server/chain.ts';
import type { GenericServer } from '../server/generic-server.ts';
import { notFoundHandler } from '../server/not-found.ts';
import type { Stores } from '../server/stores.ts';
import { watchSockets } from '../serving/websocket/watches.ts';
import type { Engine } from '../storage/engine.ts';
import { isUnspecified } from '../net/cidr.ts';
import { serverIdentity } from '../api/server-identity.ts';
import type { AccessFiles } from './access.ts';
import type { ServiceRoutes } from './admission.ts';
import { bootstrapOptions } from './bootstrap.ts';
import type { Foundation } from './foundation.ts';
import type { OpenHistory } from './history.ts';
import type { ObjectStores } from './object-stores.ts';
import { knownSchema } from './served-resources.ts';

/** The three servers on one set of stores. */
export interface CreatedServers extends ServerChain {
  aggregation: Aggregator;
  environment: EndpointEnvironment;
  records: ServerRecords;
  /** Resolves once the caches are filled, and authorization and custom resources know all that is stored. */
  synced: Promise<void>;
}

/** What each of the three is made from. */
interface ServerParts {
  foundation: Foundation;
  access: AccessFiles;
  objects: ObjectStores;
  authorization: Authorization;
  routes: ServiceRoutes;
  environment: EndpointEnvironment;
}

/** CreateServerChain (cmd/kube-apiserver/app/server.go), tail first, each with the one before as its delegate: not found ← extensions ← kube ← aggregator. */
export function createServers(
  foundation: Foundation,
  access: AccessFiles,
  objects: ObjectStores,
  authorization: Authorization,
  routes: ServiceRoutes,
  history: OpenHistory | undefined,
): CreatedServers {
  const environment = endpointEnvironment(foundation, authorization);
  const parts: ServerParts = { foundation, access, objects, authorization, routes, environment };
  const extensions = extensionsServer(parts, notFoundHandler as Handler);
  const records = serverRecords(objects.stores, objects.values.storage.engine.isSingleWriter);
  const initialized = initializeStores(foundation, objects);
  const kube = kubeServer(parts, records, initialized, extensions.server.handle);
  const behind = history ? history.serve(foundation, objects, authorization, environment, kube) : kube.handle;
  const aggregation = aggregatorServer(parts, extensions, kube, behind);
  foundation.servers.provide([aggregation.server, kube, extensions.server]);
  // Nothing is taken from what a replay shows.
  const allocators = foundation.replay ? undefined : objects.allocators.prepare();
  const isSynced = [initialized, extensions.synced, authorization.synced, allocators, aggregation.synced];
  return {
    extensions: extensions.server,
    kube,
    aggregator: aggregation.server,
    aggregation,
    remoteApis: aggregation.remoteApis,
    client: foundation.client,
    environment,
    records,
    synced: Promise.all(isSynced).then(() => undefined),
  };
}

const endpointEnvironment = ({ options, registry, isEnabled, replay, now }: Foundation, { authorizer }: Authorization): EndpointEnvironment => ({
  schemaOfKind: knownSchema,
  metrics: new EndpointMetrics(registry),
  minRequestTimeoutMs: options.minRequestTimeoutSeconds * 1000,
  hasWatchList: isEnabled('WatchList'),
  hasShards: isEnabled('ShardedListAndWatch'),
  hasCbor: isEnabled('CBORServingAndStorage'),
  ...(isEnabled('AllowUnsafeMalformedObjectDeletion') && { unsafeDeletes: authorizer }),
  webSockets: watchSockets,
  random: Math.random,
  now: replay?.now ?? now,
});

function extensionsServer({ foundation, objects, routes, environment }: ServerParts, delegate: Handler): Extensions {
  const { client, registry, replay, report, now } = foundation;
  return createExtensions(
    {
      environment,
      ownVersion: builtInApiVersions([objects.customResourceDefinitions], objects.isServed)[0]!,
      stores: objects.stores,
      client,
      recentRules: objects.recentRules,
      metrics: registry,
      webhookRoutes: routes.webhooks,
      isSingleWriter: objects.values.storage.engine.isSingleWriter,
      replayed: replay,
      report,
      now,
    },
    delegate,
  );
}

/** upstream: apiserver/pkg/server/storage_readiness_hook.go, whose words these are. */
async function initializeStores({ options, logger, clock }: Foundation, { stores }: ObjectStores): Promise<void> {
  const late = await stores.initialized(options.storageInitializationTimeoutMs, clock);
  if (late.length === 0) return logger.verbose(1, 'Storage is ready for all registered resources');
  logger.warn('Deadline exceeded while waiting for storage readiness... ignoring', { resources: late.join(' ') });
}

function kubeServer(
  { foundation, access, objects, authorization, environment }: ServerParts,
  records: ServerRecords,
  initialized: Promise<void>,
  delegate: Handler,
): GenericServer {
  const { options, client, isEnabled } = foundation;
  const { stores, admission } = objects;
  const { engine } = objects.values.storage;
  const kube = createKube(
    {
      environment,
      stores,
      client,
      authorizer: authorization.authorizer,
      readToken: access.authentication.readToken,
      bootstrap: bootstrapOptions(foundation, access.isRbacOn),
      records,
      isServed: objects.isServed,
      isPartial: foundation.replay !== undefined,
      isEnabled,
      componentStatuses: new ComponentStatusStore(admission, defaultProbes(storageProbe(engine))) as unknown as ResourceStore,
    },
    objects.kube,
    delegate,
  );
  if (options.enableLogsHandler) serveLogFiles(kube);
  // The in-process client's informers are the caches of the stores.
  const loaded = (): Promise<void> => initialized;
  kube.postStartHooks.push(
    objects.allocators.repair,
    { name: 'start-apiserver-admission-initializer', run: loaded },
    { name: 'generic-apiserver-start-informers', run: loaded },
    { name: 'storage-object-count-tracker-hook', run: loaded },
  );
  if (isEnabled('WatchCacheInitializationPostStartHook')) kube.postStartHooks.push({ name: 'storage-readiness', run: loaded });
  return kube;
}

function serveLogFiles(kube: GenericServer): void {
  const handler = logFilesHandler();
  kube.route('/logs', handler);
  kube.routePrefix('/logs/', handler);
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

/** A server that has its store for itself need not write that it lives. */
function serverRecords(stores: Stores, isSingleWriter: boolean): ServerRecords {
  if (isSingleWriter) return { masterLeases: ownMasterLease(), peerEndpoints: noPeerEndpoints };
  const schema = schemaOfKind('', 'v1', 'Endpoints');
  return {
    masterLeases: storedMasterLeases(stores.openUnserved(schema, 'masterleases', 'apiServerIPInfo')),
    peerEndpoints: storedPeerEndpoints(stores.openUnserved(schema, 'peerserverleases', 'apiServerPeerIPInfo'), serverIdentity(hostname(), 'kube-apiserver')),
  };
}

function aggregatorServer({ foundation, objects, routes, environment }: ServerParts, extensions: Extensions, kube: GenericServer, behind: Handler): Aggregator {
  const { client, registry, files, replay, report, now, closers } = foundation;
  const aggregation = createAggregator(
    {
      environment,
      ownVersion: builtInApiVersions([objects.apiServices], objects.isServed)[0]!,
      localVersions: [...kube.versions, ...extensions.server.versions],
      customVersions: extensions.customResources,
      remote: remoteEnvironment(foundation, routes),
      // Those of a recording are not there.
      reachesServers: replay === undefined,
      client,
      metrics: registry,
      report,
      now,
    },
    behind,
  );
  if (files.proxyClient) {
    files.proxyClient.onChange(() => aggregation.refreshTls());
    // Read before the server is made.
    aggregation.server.postStartHooks.push({ name: 'aggregator-reload-proxy-client-cert', run: () => Promise.resolve() });
  }
  closers.add(() => aggregation.close());
  return aggregation;
}

/** How servers behind APIServices are reached, and who we are to them. */
function remoteEnvironment({ options, files, egress, securePort, isEnabled, registry, logger }: Foundation, { addressOf }: ServiceRoutes): RemoteEnvironment {
  const host = isUnspecified(options.bindAddress) ? '127.0.0.1' : options.bindAddress;
  return {
    addressOf: withLoopback(addressOf, () => ({ host, port: securePort.value })),
    clientCertificate: () => files.proxyClient?.current,
    rejectsRedirects: options.aggregatorRejectForwardingRedirect,
    sendsUid: isEnabled('RemoteRequestHeaderUID'),
    dial: egress?.cluster,
    onWeakCertificate: countWeakCertificates(registry, 'kube_aggregator', (message) => logger.info(message)),
  };
}

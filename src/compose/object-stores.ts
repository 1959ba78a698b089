import { AdmissionChain } from '../admission/chain.ts';
import { AdmissionMetrics } from '../admission/metrics.ts';
import type { IsServed } from '../apis/api-versions.ts';
import { apiServices } from '../apis/apiregistration/api-service.ts';
import { featuresWhere } from '../apis/features.ts';
import { withSettings } from '../apis/with-settings.ts';
import { definitionsWithRules } from '../extensions/rules/definition-rules.ts';
import { ruleMetrics } from '../extensions/rules/rule-metrics.ts';
import { RecentRules } from '../extensions/rules/recent-rules.ts';
import { type KeptAllocators, createServiceAllocators } from '../kube/allocation/service-allocators.ts';
import { type KubeletOptions, Kubelets } from '../kube/kubelet/kubelets.ts';
import { countDurations } from '../apis/certificates/certificate-duration.ts';
import { StreamMetrics } from '../kube/kubelet/metrics.ts';
import { ProxyTransports } from '../kube/proxy/transports.ts';
import { openKubeStores } from '../kube/server.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { ResourceStore } from '../registry/store.ts';
import type { KindSettings } from '../registry/write.ts';
import { Stores, type StoresOptions } from '../server/stores.ts';
import { AllocationMetrics } from '../kube/allocation/allocation-metrics.ts';
import { StorageMetrics } from '../storage/storage-metrics.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import { dialDirectly } from '../net/dial.ts';
import { openRevision } from '../workers/revision-file.ts';
import type { WorkerSettings } from '../workers/settings.ts';
import type { AccessFiles } from './access.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import { type Release, compareReleases } from '../options/effective-version.ts';
import { storageVersions } from './emulated-storage.ts';
import { Provided } from './provided.ts';
import { servedVersions } from './served-resources.ts';
import type { OpenStorage } from './storage.ts';
import type { StoredValues } from './stored-values.ts';

/** The stores of all built-in kinds, and what their actions (exec, proxy, cluster IPs) reach. */
export interface ObjectStores {
  values: StoredValues;
  stores: Stores;
  kube: readonly ResourceStore[];
  /** Which versions of them clients reach. */
  isServed: IsServed;
  customResourceDefinitions: ResourceStore;
  recentRules: RecentRules;
  apiServices: ResourceStore;
  settings: KindSettings;
  allocators: KeptAllocators;
  kubelets: Kubelets;
  proxyTransports: ProxyTransports;
  /** Writes pass through it. It is empty until the admission phase gives it plug-ins, which read the stores. */
  admission: AdmissionChain;
  admissionMetrics: AdmissionMetrics;
  /** Asked by actions of pods; provided by the authorization phase, since authorizers read the stores. */
  authorizer: Provided<Authorizer>;
}

/** Opens one store a resource over the caches of the engines, which begin to fill. */
export function openObjectStores(foundation: Foundation, { tokenIssuer }: AccessFiles, values: StoredValues): ObjectStores {
  const { options, registry, client, egress, now, isEnabled } = foundation;
  const admissionMetrics = new AdmissionMetrics(registry);
  const admission = new AdmissionChain(admissionMetrics);
  const stores = createStores(foundation, values, admission);
  const settings = kindSettings(options);
  const recentRules = new RecentRules();
  const customResourceDefinitions = stores.open(withSettings(definitionsWithRules(recentRules, ruleMetrics(registry)), settings, now));
  const apiServiceStore = stores.open(withSettings(apiServices, settings, now));
  const allocators = createAllocators(foundation, values, stores);
  const kubelets = new Kubelets(client, { ...kubeletOptions(options), dial: egress?.cluster });
  const proxyTransports = new ProxyTransports(egress?.cluster ?? dialDirectly, options.maxConnectionBytesPerSec);
  const authorizer = new Provided<Authorizer>('authorizer');
  const kube = openKubeStores(
    stores,
    {
      allocators,
      eventTtlSeconds: options.eventTtlMs / 1000,
      now,
      settings,
      onCertificateIssued: countDurations(registry),
      inStorageVersion: storageVersions(options.effectiveVersion),
    },
    {
      client,
      tokenIssuer,
      isEnabled,
      now,
      kubelets,
      proxyTransports,
      metrics: new StreamMetrics(registry),
      authorizer: { authorize: (attributes) => authorizer.value.authorize(attributes) },
    },
  );
  for (const part of [stores, kubelets, proxyTransports]) foundation.closers.add(() => part.close());
  return {
    values,
    stores,
    kube,
    isServed: servedVersions(options, () => kube.map(({ definition }) => definition)),
    customResourceDefinitions,
    recentRules,
    apiServices: apiServiceStore,
    settings,
    allocators,
    kubelets,
    proxyTransports,
    admission,
    admissionMetrics,
    authorizer,
  };
}

const createStores = (
  { options, logger, registry, worker, image, clock, client, keeping, isEnabled, now }: Foundation,
  { storage, encoding }: StoredValues,
  admission: AdmissionChain,
): Stores =>
  new Stores({
    ...feedsOf(storage, `${options.etcdPrefix}/`, worker?.settings, { image, clock }),
    keyPrefix: `${options.etcdPrefix}/`,
    ...(encoding && { encoding }),
    admission,
    collectsGarbage: options.enableGarbageCollector,
    deleteWorkers: options.deleteCollectionWorkers,
    ...(isEnabled('DetectCacheInconsistency') && {
      reportInconsistency: (message: string, details: Record<string, unknown>) => logger.error(message, details),
    }),
    tellsCorrupt: isEnabled('AllowUnsafeMalformedObjectDeletion'),
    annotatesWrites: keeping !== undefined,
    client,
    now,
    // Requests to an etcd are counted where they are made.
    metrics: new StorageMetrics(registry, options.storageBackend !== 'etcd3'),
  });

function feedsOf(
  { engine, overrides }: OpenStorage,
  prefix: string,
  worker: WorkerSettings | undefined,
  { image, clock }: Pick<Foundation, 'image' | 'clock'>,
): Pick<StoresOptions, 'feed' | 'feedOverrides'> {
  const catchesUpFirst = worker?.storeUrl !== undefined;
  const readRevision = worker?.revisionPath === undefined ? undefined : openRevision(worker.revisionPath);
  const feeds = new Map(
    [engine, ...overrides.values()].map((each) => [each, new CacheFeed(each, { prefix, catchesUpFirst, readRevision, images: image?.caches, clock })]),
  );
  return { feed: feeds.get(engine)!, feedOverrides: new Map([...overrides].map(([resource, each]) => [resource, feeds.get(each)!])) };
}

const createAllocators = ({ options, registry, client, report, now }: Foundation, { storage }: StoredValues, stores: Stores): KeptAllocators =>
  createServiceAllocators({
    client,
    stores,
    ranges: options.serviceClusterIpRanges.filter((range) => range !== undefined),
    ports: options.serviceNodePortRange,
    metrics: new AllocationMetrics(registry),
    isSingleWriter: storage.engine.isSingleWriter,
    report,
    now,
  });

export const kindSettings = ({ featureGates, allowPrivileged, effectiveVersion }: CompletedOptions): KindSettings => ({
  features: featuresWhere((feature) => featureGates.isEnabled(feature)),
  allowsPrivileged: allowPrivileged,
  hasFormerCel: compareReleases(effectiveVersion.minCompatibility, CEL_LISTS_RELEASE) < 0,
});

/** kubernetes: apiserver/pkg/cel/environment/base.go: the last libraries that were added. */
const CEL_LISTS_RELEASE: Release = { major: 1, minor: 34 };

const kubeletOptions = (options: CompletedOptions): KubeletOptions => ({
  preferredAddressTypes: options.kubeletPreferredAddressTypes,
  port: options.kubeletPort,
  timeoutMs: options.kubeletTimeoutMs,
  certificateAuthorityFile: options.kubeletCertificateAuthority,
  clientCertificateFile: options.kubeletClientCertificate,
  clientKeyFile: options.kubeletClientKey,
  upgradedBytesPerSecond: options.maxConnectionBytesPerSec,
});

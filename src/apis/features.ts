/** Features of the API that are off unless --feature-gates says otherwise: kinds that are not there, and fields that are taken out of what clients send. */
const API_FEATURES = [
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'ContainerStopSignals',
  'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource',
  'DRAListTypeAttributes',
  'DRANodeAllocatableResources',
  'DRAWorkloadResourceClaims',
  'GenericWorkload',
  'HPAScaleToZero',
  'ImageVolumeWithDigest',
  'MaxUnavailableStatefulSet',
  'MutablePVNodeAffinity',
  'PodCertificateRequest',
  'StorageVersionMigrator',
  'TaintTolerationComparisonOperators',
  'TopologyAwareWorkloadScheduling',
  'UserNamespacesHostNetworkSupport',
  'VolumeLimitScaling',
  'WorkloadAwarePreemption',
] as const;

export type ApiFeature = (typeof API_FEATURES)[number];

/** One answer for the process, as upstream's DefaultFeatureGate: kinds are values that all servers of a process share. */
let enabled: ReadonlySet<ApiFeature> = new Set();

/** To be called before the server serves. */
export function setApiFeatures(gates: { isEnabled(name: string): boolean }): void {
  enabled = new Set(API_FEATURES.filter((feature) => gates.isEnabled(feature)));
}

export const isFeatureOn = (feature: ApiFeature): boolean => enabled.has(feature);

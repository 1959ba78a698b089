import type { KindSettings } from '../registry/write.ts';

/**
 * Features that kinds ask for, and whether each is on where nobody says otherwise (pkg/features, at v1.36). One that is off takes kinds away, or fields out
 * of what clients send, or rules. Those that cannot be moved any more are there for the older versions that can be emulated.
 */
const API_FEATURES = {
  ClearingNominatedNodeNameAfterBinding: true,
  ClusterTrustBundle: false,
  ClusterTrustBundleProjection: false,
  ContainerRestartRules: true,
  ContainerStopSignals: false,
  CoordinatedLeaderElection: false,
  CRDObservedGenerationTracking: true,
  CrossNamespaceVolumeDataSource: false,
  CSIServiceAccountTokenSecrets: true,
  DeploymentReplicaSetTerminatingReplicas: true,
  DRAAdminAccess: true,
  DRAConsumableCapacity: true,
  DRADeviceBindingConditions: true,
  DRADeviceTaints: true,
  DRAExtendedResource: true,
  DRAListTypeAttributes: false,
  DRANodeAllocatableResources: false,
  DRAPartitionableDevices: true,
  DRAPrioritizedList: true,
  DRAResourceClaimDeviceStatus: true,
  DRAWorkloadResourceClaims: false,
  DynamicResourceAllocation: true,
  EnvFiles: true,
  GenericWorkload: false,
  HostnameOverride: true,
  HPAConfigurableTolerance: true,
  HPAScaleToZero: false,
  ImageVolume: true,
  ImageVolumeWithDigest: false,
  InPlacePodLevelResourcesVerticalScaling: true,
  InPlacePodVerticalScalingInitContainers: true,
  ManifestBasedAdmissionControlConfig: false,
  MatchLabelKeysInPodTopologySpread: true,
  MatchLabelKeysInPodTopologySpreadSelectorMerge: true,
  MaxUnavailableStatefulSet: false,
  MutableCSINodeAllocatableCount: true,
  MutablePodResourcesForSuspendedJobs: true,
  MutablePVNodeAffinity: false,
  MutableSchedulingDirectivesForSuspendedJobs: true,
  NodeDeclaredFeatures: true,
  PodCertificateRequest: false,
  PodDeletionCost: true,
  PodLevelResources: true,
  PodObservedGenerationTracking: true,
  PreferSameTrafficDistribution: true,
  RelaxedServiceNameValidation: true,
  ResourceHealthStatus: true,
  ResourceHealthStatusMessage: true,
  RestartAllContainersOnContainerExits: true,
  SELinuxMount: false,
  ServiceCIDRStatusFieldWiping: true,
  StorageVersionMigrator: false,
  StrictIPCIDRValidation: true,
  TaintTolerationComparisonOperators: false,
  TopologyAwareWorkloadScheduling: false,
  UserNamespacesHostNetworkSupport: false,
  VolumeAttributesClass: true,
  VolumeLimitScaling: false,
  WorkloadAwarePreemption: false,
} as const satisfies Record<string, boolean>;

export type ApiFeature = keyof typeof API_FEATURES;

export const apiFeatures: ReadonlyMap<string, boolean> = new Map(Object.entries(API_FEATURES));

export const DEFAULT_SETTINGS: KindSettings = { features: featuresWhere((feature) => API_FEATURES[feature]), allowsPrivileged: false };

export function featuresWhere(isEnabled: (feature: ApiFeature) => boolean): ReadonlySet<ApiFeature> {
  return new Set((Object.keys(API_FEATURES) as ApiFeature[]).filter(isEnabled));
}

export const isFeatureOn = ({ features }: KindSettings, feature: ApiFeature): boolean => features.has(feature);

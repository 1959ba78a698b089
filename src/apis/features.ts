/**
 * Features that kinds ask for, and whether each is on where nobody says otherwise (pkg/features, at v1.36). One that is off takes kinds away, or fields out
 * of what clients send, or rules.
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
  DeploymentReplicaSetTerminatingReplicas: true,
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
  EnvFiles: true,
  GenericWorkload: false,
  HostnameOverride: true,
  HPAConfigurableTolerance: true,
  HPAScaleToZero: false,
  ImageVolumeWithDigest: false,
  InPlacePodLevelResourcesVerticalScaling: true,
  InPlacePodVerticalScalingInitContainers: true,
  MatchLabelKeysInPodTopologySpread: true,
  MatchLabelKeysInPodTopologySpreadSelectorMerge: true,
  MaxUnavailableStatefulSet: false,
  MutablePodResourcesForSuspendedJobs: true,
  MutablePVNodeAffinity: false,
  MutableSchedulingDirectivesForSuspendedJobs: true,
  NodeDeclaredFeatures: true,
  PodCertificateRequest: false,
  PodDeletionCost: true,
  PodLevelResources: true,
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
  VolumeLimitScaling: false,
  WorkloadAwarePreemption: false,
} as const satisfies Record<string, boolean>;

export type ApiFeature = keyof typeof API_FEATURES;

export const apiFeatures: ReadonlyMap<string, boolean> = new Map(Object.entries(API_FEATURES));

/** What the flags of one server say to its kinds. */
export interface KindSettings {
  features: ReadonlySet<ApiFeature>;
  /** --allow-privileged: off until set, as upstream's flag (pkg/capabilities). */
  allowsPrivileged: boolean;
}

export const DEFAULT_SETTINGS: KindSettings = { features: featuresWhere((feature) => API_FEATURES[feature]), allowsPrivileged: false };

export function featuresWhere(isEnabled: (feature: ApiFeature) => boolean): ReadonlySet<ApiFeature> {
  return new Set((Object.keys(API_FEATURES) as ApiFeature[]).filter(isEnabled));
}

/**
 * Those of the server whose hook runs. Kinds are values that all servers of a process share, and their hooks run to their end in one turn, so that who
 * runs one sets this around it (`with-settings.ts`), and so does everybody else who asks a kind's rules: allocation, admission plug-ins, controllers. Outside of
 * that, the defaults stand, which only tests of single kinds rely on.
 */
let current = DEFAULT_SETTINGS;

/** Always the same for the same server. */
export const currentSettings = (): KindSettings => current;

export const isFeatureOn = (feature: ApiFeature): boolean => current.features.has(feature);

export const arePrivilegedAllowed = (): boolean => current.allowsPrivileged;

/** Runs what does not wait, as one server would. */
export function withinSettings<Result>(settings: KindSettings, run: () => Result): Result {
  const outer = current;
  current = settings;
  try {
    return run();
  } finally {
    current = outer;
  }
}

/* Made by npm run facts from facts/: gates that were otherwise in a version that can be emulated, each with the versions since which it has been so. */

export const gateHistory = (): string => `
APIServerTracing: 1.27 beta on, 1.34 GA on locked
AggregatedDiscoveryRemoveBetaType: 1.33 deprecated on, 1.35 deprecated on locked
AllowOverwriteTerminationGracePeriodSeconds: 1.32 deprecated off, 1.35 deprecated off locked
AnonymousAuthConfigurableEndpoints: 1.32 beta on, 1.34 GA on locked
AtomicFIFO: 1.36 beta on
AuthorizeNodeWithSelectors: 1.32 beta on, 1.34 GA on locked
AuthorizePodWebsocketUpgradeCreatePermission: 1.35 beta on
AuthorizeWithSelectors: 1.32 beta on, 1.34 GA on locked
CRDObservedGenerationTracking: 1.35 beta off, 1.36 beta on
CRIListStreaming: 1.36 alpha off
CSIServiceAccountTokenSecrets: 1.35 beta on, 1.36 GA on locked
ChangeContainerStatusOnKubeletRestart: 1.0 GA on, 1.35 deprecated off
ClearingNominatedNodeNameAfterBinding: 1.34 alpha off, 1.35 beta on
ClientsAllowCARotation: 1.36 beta on
ClientsAllowTLSCacheGC: 1.36 beta on
CloudControllerManagerWatchBasedRoutesReconciliation: 1.35 alpha off
ComponentFlagz: 1.32 alpha off, 1.36 beta on
ComponentStatusz: 1.32 alpha off, 1.36 beta on
ConsistentListFromCache: 1.31 beta on, 1.34 GA on locked
ConstrainedImpersonation: 1.35 alpha off, 1.36 beta on
ContainerRestartRules: 1.34 alpha off, 1.35 beta on
ControllerManagerReleaseLeaderElectionLockOnExit: 1.36 alpha off
CustomCPUCFSQuotaPeriod: 1.12 alpha off, 1.36 GA on
DRAAdminAccess: 1.32 alpha off, 1.34 beta on, 1.36 GA on locked
DRAConsumableCapacity: 1.34 alpha off, 1.36 beta on
DRADeviceBindingConditions: 1.34 alpha off, 1.36 beta on
DRADeviceTaintRules: 1.35 alpha off, 1.36 beta off
DRADeviceTaints: 1.33 alpha off, 1.36 beta on
DRAExtendedResource: 1.34 alpha off, 1.36 beta on
DRAListTypeAttributes: 1.36 alpha off
DRANodeAllocatableResources: 1.36 alpha off
DRAPartitionableDevices: 1.33 alpha off, 1.36 beta on
DRAPrioritizedList: 1.33 alpha off, 1.34 beta on, 1.36 GA on
DRAResourceClaimGranularStatusAuthorization: 1.36 beta on
DRAResourcePoolStatus: 1.36 alpha off
DRASchedulerFilterTimeout: 1.34 beta on
DRAWorkloadResourceClaims: 1.36 alpha off
DeclarativeValidation: 1.33 beta on, 1.36 GA on locked
DeclarativeValidationBeta: 1.36 beta on
DeclarativeValidationTakeover: 1.33 beta off, 1.36 deprecated off
DeploymentReplicaSetTerminatingReplicas: 1.33 alpha off, 1.35 beta on
DetectCacheInconsistency: 1.34 beta on
DisableAllocatorDualWrite: 1.33 beta off, 1.34 GA on, 1.35 GA on locked
DisableCPUQuotaWithExclusiveCPUs: 1.33 beta on, 1.36 deprecated on
DisableNodeKubeProxyVersion: 1.33 deprecated on, 1.36 deprecated on locked
DynamicResourceAllocation: 1.32 beta off, 1.34 GA on, 1.35 GA on locked
EnvFiles: 1.34 alpha off, 1.35 beta on
ExecProbeTimeout: 1.20 GA on, 1.35 GA on locked
ExtendWebSocketsToKubelet: 1.36 beta on
ExternalServiceAccountTokenSigner: 1.32 alpha off, 1.34 beta on, 1.36 GA on locked
GangScheduling: 1.35 alpha off
GenericWorkload: 1.35 alpha off
GitRepoVolumeDriver: 1.33 deprecated off, 1.36 deprecated off locked
HPAConfigurableTolerance: 1.33 alpha off, 1.35 beta on
HostnameOverride: 1.34 alpha off, 1.35 beta on
ImageMaximumGCAge: 1.30 beta on, 1.35 GA on locked
ImageVolume: 1.33 beta off, 1.35 beta on, 1.36 GA on locked
ImageVolumeWithDigest: 1.35 alpha off
InOrderInformers: 1.33 beta on, 1.36 GA on locked
InOrderInformersBatchProcess: 1.35 beta on
InPlacePodLevelResourcesVerticalScaling: 1.35 alpha off, 1.36 beta on
InPlacePodVerticalScaling: 1.33 beta on, 1.35 GA on locked
InPlacePodVerticalScalingExclusiveMemory: 1.34 alpha off
InPlacePodVerticalScalingInitContainers: 1.36 beta on
InformerResourceVersion: 1.30 alpha off, 1.35 GA on
JobManagedBy: 1.32 beta on, 1.35 GA on locked
JobPodReplacementPolicy: 1.29 beta on, 1.34 GA on locked
KubeletCgroupDriverFromCRI: 1.31 beta on, 1.34 GA on locked
KubeletCrashLoopBackOffMax: 1.32 alpha off, 1.35 beta on
KubeletEnsureSecretPulledImages: 1.33 alpha off, 1.35 beta on
KubeletFineGrainedAuthz: 1.33 beta on, 1.36 GA on locked
KubeletPSI: 1.33 alpha off, 1.34 beta on, 1.36 GA on locked
KubeletPodResourcesDynamicResources: 1.27 alpha off, 1.34 beta on, 1.36 GA on locked
KubeletPodResourcesGet: 1.27 alpha off, 1.34 beta on, 1.36 GA on locked
KubeletPodResourcesListUseActivePods: 1.0 GA off, 1.34 deprecated on
KubeletServiceAccountTokenForCredentialProviders: 1.33 alpha off, 1.34 beta on
KubeletTracing: 1.27 beta on, 1.34 GA on locked
ListFromCacheSnapshot: 1.33 alpha off, 1.34 beta on
ManifestBasedAdmissionControlConfig: 1.36 alpha off
MatchLabelKeysInPodTopologySpreadSelectorMerge: 1.34 beta on
MaxUnavailableStatefulSet: 1.24 alpha off, 1.35 beta off
MultiCIDRServiceAllocator: 1.33 GA on, 1.34 GA on locked
MutableCSINodeAllocatableCount: 1.33 alpha off, 1.34 beta off, 1.35 beta on, 1.36 GA on locked
MutablePVNodeAffinity: 1.35 alpha off
MutablePodResourcesForSuspendedJobs: 1.35 alpha off, 1.36 beta on
MutableSchedulingDirectivesForSuspendedJobs: 1.35 alpha off, 1.36 beta on
MutatingAdmissionPolicy: 1.32 alpha off, 1.34 beta off, 1.36 GA on
NativeHistograms: 1.36 alpha off
NodeDeclaredFeatures: 1.35 alpha off, 1.36 beta on
NodeLogQuery: 1.30 beta off, 1.36 GA on locked
NodeSwap: 1.30 beta on, 1.34 GA on locked
NominatedNodeNameForExpectation: 1.34 alpha off, 1.35 beta on
OpportunisticBatching: 1.35 beta on
OrderedNamespaceDeletion: 1.33 beta on, 1.34 GA on locked
PLEGOnDemandRelist: 1.36 beta on
PersistentVolumeClaimUnusedSinceTime: 1.36 alpha off
PodCertificateRequest: 1.34 alpha off, 1.35 beta off
PodLevelResourceManagers: 1.36 alpha off
PodLevelResources: 1.32 alpha off, 1.34 beta on
PodLifecycleSleepAction: 1.30 beta on, 1.34 GA on locked
PodLifecycleSleepActionAllowZero: 1.33 beta on, 1.34 GA on locked
PodObservedGenerationTracking: 1.33 alpha off, 1.34 beta on, 1.35 GA on locked
PodTopologyLabelsAdmission: 1.33 alpha off, 1.35 beta on
PodsAPI: 1.36 alpha off
PreferSameTrafficDistribution: 1.33 alpha off, 1.34 beta on, 1.35 GA on locked
PreventStaticPodAPIReferences: 1.34 beta on
ProcMountType: 1.33 beta on, 1.36 GA on locked
RecoverVolumeExpansionFailure: 1.32 beta on, 1.34 GA on locked
RelaxedDNSSearchValidation: 1.33 beta on, 1.34 GA on locked
RelaxedEnvironmentVariableValidation: 1.32 beta on, 1.34 GA on locked
RelaxedServiceNameValidation: 1.34 alpha off, 1.36 beta on
ReloadKubeletClientCAFile: 1.36 beta on
ResilientWatchCacheInitialization: 1.31 beta on, 1.34 GA on locked
ResourceHealthStatus: 1.31 alpha off, 1.36 beta on
ResourceHealthStatusMessage: 1.36 beta on
RestartAllContainersOnContainerExits: 1.35 alpha off, 1.36 beta on
SELinuxChangePolicy: 1.33 beta on, 1.36 GA on locked
SELinuxMountReadWriteOncePod: 1.28 beta on, 1.36 GA on locked
SchedulerAsyncAPICalls: 1.34 beta off
SchedulerQueueingHints: 1.32 beta on, 1.34 GA on locked
SeparateCacheWatchRPC: 1.33 deprecated off, 1.36 deprecated off locked
SeparateTaintEvictionController: 1.29 beta on, 1.34 GA on locked
ServiceCIDRStatusFieldWiping: 1.0 GA off, 1.36 deprecated on
ShardedListAndWatch: 1.36 alpha off
SizeBasedListCostEstimate: 1.34 beta on
StaleControllerConsistencyDaemonSet: 1.36 beta on
StaleControllerConsistencyJob: 1.36 beta on
StaleControllerConsistencyReplicaSet: 1.36 beta on
StaleControllerConsistencyStatefulSet: 1.36 beta on
StorageVersionMigrator: 1.30 alpha off, 1.35 beta off
StreamingCollectionEncodingToJSON: 1.33 beta on, 1.34 GA on locked
StreamingCollectionEncodingToProtobuf: 1.33 beta on, 1.34 GA on locked
StrictIPCIDRValidation: 1.33 alpha off, 1.36 beta on
StructuredAuthenticationConfiguration: 1.30 beta on, 1.34 GA on locked
StructuredAuthenticationConfigurationEgressSelector: 1.34 beta on
StructuredAuthenticationConfigurationJWKSMetrics: 1.35 beta on
SupplementalGroupsPolicy: 1.33 beta on, 1.35 GA on locked
SystemdWatchdog: 1.32 beta on, 1.35 GA on locked
TaintTolerationComparisonOperators: 1.35 alpha off
TokenRequestServiceAccountUIDValidation: 1.34 beta on
TopologyAwareWorkloadScheduling: 1.36 alpha off
UnknownVersionInteroperabilityProxy: 1.28 alpha off, 1.36 beta on
UnlockWhileProcessingFIFO: 1.36 beta on
UserNamespacesHostNetworkSupport: 1.35 alpha off
UserNamespacesSupport: 1.33 beta on, 1.36 GA on locked
VolumeAttributesClass: 1.31 beta off, 1.34 GA on, 1.36 GA on locked
VolumeLimitScaling: 1.35 alpha off
WatchCacheInitializationPostStartHook: 1.31 beta off, 1.36 beta on
WatchList: 1.33 beta off, 1.34 beta on
WatchListClient: 1.30 beta off, 1.35 beta on
WinDSR: 1.33 beta on, 1.34 GA on locked
WinOverlay: 1.20 beta on, 1.34 GA on locked
WindowsGracefulNodeShutdown: 1.32 alpha off, 1.34 beta on
WorkloadAwarePreemption: 1.36 alpha off
WorkloadWithJob: 1.36 alpha off
`;

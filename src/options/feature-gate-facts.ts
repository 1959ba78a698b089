type GateStage = 'alpha' | 'beta' | 'GA' | 'deprecated';

/** Gates of one stage, default and lock. A locked gate cannot be moved from its default. */
export interface GateGroup {
  readonly stage: GateStage;
  readonly isOnByDefault: boolean;
  readonly isLocked: boolean;
  readonly names: readonly string[];
}

const names = (text: string): string[] => text.trim().split(/\s+/);

/** The feature gates that kube-apiserver v1.36 knows, as they stand at that version (pkg/features, apiserver/pkg/features, client-go/features). */
export const gateGroups: readonly GateGroup[] = [
  {
    stage: 'alpha',
    isOnByDefault: false,
    isLocked: false,
    names: names(`
      APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming
      CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
      ContainerStopSignals ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
      DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero
      ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace
      LoggingAlphaOptions ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
      PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
      QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring StorageVersionAPI
      TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
      VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
    `),
  },
  {
    stage: 'beta',
    isOnByDefault: false,
    isLocked: false,
    names: names(`
      AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection DRADeviceTaintRules
      LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls
      StorageVersionMigrator
    `),
  },
  {
    stage: 'beta',
    isOnByDefault: true,
    isLocked: false,
    names: names(`
      APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission
      CPUManagerPolicyBetaOptions CRDObservedGenerationTracking ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation
      ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules
      ContextualLogging DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
      DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
      DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
      GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride InOrderInformersBatchProcess
      InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
      KubeletEnsureSecretPulledImages KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
      LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
      MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures NominatedNodeNameForExpectation
      OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
      PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
      ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
      RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
      ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
      StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
      StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
      TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
      UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook
      WatchList WatchListClient WindowsGracefulNodeShutdown
    `),
  },
  {
    stage: 'GA',
    isOnByDefault: true,
    isLocked: false,
    names: names(`
      AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion MutatingAdmissionPolicy
    `),
  },
  {
    stage: 'GA',
    isOnByDefault: true,
    isLocked: true,
    names: names(`
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors
      BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache
      CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation
      ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex
      JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
      KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity
      MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery
      NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking
      PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
      RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
      SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI
      ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
      SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
    `),
  },
  {
    stage: 'deprecated',
    isOnByDefault: false,
    isLocked: false,
    names: names(`
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
      DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `),
  },
  {
    stage: 'deprecated',
    isOnByDefault: false,
    isLocked: true,
    names: names(`
      AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    `),
  },
  {
    stage: 'deprecated',
    isOnByDefault: true,
    isLocked: false,
    names: names(`
      DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    `),
  },
  {
    stage: 'deprecated',
    isOnByDefault: true,
    isLocked: true,
    names: names(`
      AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    `),
  },
];

/** What a gate needs: it cannot be on while one of these is off. */
export const gateDependencies: Readonly<Record<string, readonly string[]>> = {
  AuthorizeNodeWithSelectors: ['AuthorizeWithSelectors'],
  ClusterTrustBundleProjection: ['ClusterTrustBundle'],
  DRAAdminAccess: ['DynamicResourceAllocation'],
  DRAConsumableCapacity: ['DynamicResourceAllocation'],
  DRADeviceBindingConditions: ['DynamicResourceAllocation', 'DRAResourceClaimDeviceStatus'],
  DRADeviceTaintRules: ['DRADeviceTaints'],
  DRADeviceTaints: ['DynamicResourceAllocation'],
  DRAExtendedResource: ['DynamicResourceAllocation'],
  DRAListTypeAttributes: ['DynamicResourceAllocation'],
  DRANodeAllocatableResources: ['DynamicResourceAllocation'],
  DRAPartitionableDevices: ['DynamicResourceAllocation'],
  DRAPrioritizedList: ['DynamicResourceAllocation'],
  DRAResourceClaimGranularStatusAuthorization: ['DynamicResourceAllocation', 'DRAResourceClaimDeviceStatus'],
  DRAResourcePoolStatus: ['DynamicResourceAllocation'],
  DRASchedulerFilterTimeout: ['DynamicResourceAllocation'],
  DRAWorkloadResourceClaims: ['DynamicResourceAllocation', 'GenericWorkload'],
  DeclarativeValidationBeta: ['DeclarativeValidation'],
  DeclarativeValidationTakeover: ['DeclarativeValidation'],
  DisableAllocatorDualWrite: ['MultiCIDRServiceAllocator'],
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GangScheduling: ['GenericWorkload'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  ImageVolumeWithDigest: ['ImageVolume'],
  InPlacePodLevelResourcesVerticalScaling: ['InPlacePodVerticalScaling', 'PodLevelResources', 'NodeDeclaredFeatures'],
  InPlacePodVerticalScalingExclusiveCPUs: ['InPlacePodVerticalScaling'],
  InPlacePodVerticalScalingExclusiveMemory: ['InPlacePodVerticalScaling'],
  InPlacePodVerticalScalingInitContainers: ['InPlacePodVerticalScaling', 'NodeDeclaredFeatures'],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ['MatchLabelKeysInPodTopologySpread'],
  PodCertificateRequest: ['AuthorizeNodeWithSelectors'],
  PodLevelResourceManagers: ['PodLevelResources'],
  PodLifecycleSleepActionAllowZero: ['PodLifecycleSleepAction'],
  ProcMountType: ['UserNamespacesSupport'],
  ResourceHealthStatus: ['DynamicResourceAllocation'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  ServiceAccountTokenNodeBinding: ['ServiceAccountTokenNodeBindingValidation'],
  StaleControllerConsistencyDaemonSet: ['AtomicFIFO'],
  StaleControllerConsistencyJob: ['AtomicFIFO'],
  StaleControllerConsistencyReplicaSet: ['AtomicFIFO'],
  StaleControllerConsistencyStatefulSet: ['AtomicFIFO'],
  StorageVersionAPI: ['APIServerIdentity'],
  StructuredAuthenticationConfigurationEgressSelector: ['StructuredAuthenticationConfiguration'],
  StructuredAuthenticationConfigurationJWKSMetrics: ['StructuredAuthenticationConfiguration'],
  TopologyAwareWorkloadScheduling: ['GenericWorkload'],
  UnknownVersionInteroperabilityProxy: ['APIServerIdentity'],
  UserNamespacesHostNetworkSupport: ['UserNamespacesSupport', 'NodeDeclaredFeatures'],
  WindowsGracefulNodeShutdown: ['GracefulNodeShutdown'],
  WorkloadAwarePreemption: ['GangScheduling'],
  WorkloadWithJob: ['GenericWorkload'],
};

import { validatingWebhookConfigurations } from './admissionregistration/validating-webhook-configuration.ts';
import { describe, expect, test } from 'vitest';
import type { ResourceDefinition } from '../registry/definition.ts';
import { deployments } from './apps/deployment.ts';
import { statefulSets } from './apps/stateful-set.ts';
import { horizontalPodAutoscalers } from './autoscaling/horizontal-pod-autoscaler.ts';
import { jobs } from './batch/job.ts';
import { leases } from './coordination/lease.ts';
import { customResourceDefinitions } from './apiextensions/custom-resource-definition.ts';
import { endpoints } from './core/endpoints.ts';
import { nodes } from './core/node.ts';
import { persistentVolumeClaims } from './core/persistent-volume-claim.ts';
import { persistentVolumes } from './core/persistent-volume.ts';
import { pods } from './core/pod/pod.ts';
import { defineServices } from './core/service.ts';
import type { KindSettings } from '../registry/write.ts';
import { type ApiFeature, apiFeatures, featuresWhere } from './features.ts';
import { endpointSlices } from './discovery/endpoint-slice.ts';
import { ingresses } from './networking/ingress.ts';
import { deviceClasses } from './resource/device-class.ts';
import { resourceClaims } from './resource/resource-claim.ts';
import { resourceSlices } from './resource/resource-slice.ts';
import { podGroups } from './scheduling/pod-group.ts';
import { csiDrivers } from './storage/csi-driver.ts';
import { csiNodes } from './storage/csi-node.ts';
import { created, NOW, updated } from './testing/kind-tester.ts';
import { withSettings } from './with-settings.ts';

/* Every feature that kinds ask for makes a difference: what comes of one object with it, and without it. */

const settings = (feature: ApiFeature, isOn: boolean): KindSettings => ({
  features: featuresWhere((one) => (one === feature ? isOn : apiFeatures.get(one)!)),
  allowsPrivileged: false,
});

// oxlint-disable-next-line typescript/no-explicit-any -- objects of all kinds
type Loose = any;
/** Without the times at which things happened. */
const stable = (value: unknown): string => JSON.stringify(value).replaceAll(/"\d{4}-[^"]+Z"/g, '"now"');
const as = (definition: ResourceDefinition<Loose>, kindSettings: KindSettings): ResourceDefinition<Loose> => withSettings(definition, kindSettings, () => NOW);
const make =
  (definition: ResourceDefinition<Loose>, sent: object) =>
  (kindSettings: KindSettings): unknown =>
    created(as(definition, kindSettings), { metadata: { name: 'x', namespace: 'n' }, ...sent });
const change =
  (definition: ResourceDefinition<Loose>, sent: object, next: (object: Loose) => void, subresource?: string) =>
  (kindSettings: KindSettings): unknown => {
    // The object is from before the feature was moved, and has nothing of it.
    const own = as(definition, kindSettings);
    const { object } = created(own, { metadata: { name: 'x', namespace: 'n', uid: 'u' }, ...sent });
    return updated(own, object, next, subresource);
  };

const pod = (spec: object = {}, container: object = {}): object => ({ spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } });
const projected = (source: object): object => pod({ volumes: [{ name: 'v', projected: { sources: [source] } }] });
const podStatus = (status: object) => change(pods, pod(), (object) => Object.assign(object.status, status), 'status');
const containerStatus = (status: object) =>
  podStatus({ containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount: 0, state: {}, ...status }] });
const spread = (constraint: object) => ({
  metadata: { name: 'x', namespace: 'n', labels: { app: 'a' } },
  ...pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, ...constraint }] }),
});
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
const workload = { spec: { selector: { matchLabels: { app: 'a' } }, template: { ...template, spec: { containers: [{ name: 'c', image: 'i' }] } } } };
const job = (spec: object): object => ({ spec: { suspend: true, template, ...spec } });
const slice = (device: object, spec: object = {}): object => ({
  spec: { driver: 'd.io', pool: { name: 'p', generation: 0, resourceSliceCount: 1 }, nodeName: 'n', devices: [{ name: 'd', ...device }], ...spec },
});
const claim = (devices: object): object => ({ spec: { devices } });
const exactly = (request: object): object => claim({ requests: [{ name: 'r', exactly: { deviceClassName: 'c', ...request } }] });
const results = (result: object) =>
  change(
    resourceClaims,
    exactly({}),
    (object) => (object.status = { allocation: { devices: { results: [{ request: 'r', driver: 'd.io', pool: 'p', device: 'd', ...result }] } } }),
    'status',
  );
const autoscaler = (spec: object): object => ({ spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3, ...spec } });
const suspended =
  (next: (spec: Loose) => void, status: object = {}) =>
  (kindSettings: KindSettings) => {
    const { object } = created(as(jobs, kindSettings), { metadata: { name: 'x', namespace: 'n', uid: 'u' }, ...job({}) });
    Object.assign(object, { status });
    return updated(as(jobs, kindSettings), object, ({ spec }) => next(spec.template.spec));
  };
const resized = (spec: object, next: (spec: Loose) => void) => change(pods, pod(spec), ({ spec: resizing }) => next(resizing), 'resize');

const PROBES: Partial<Record<ApiFeature, (kindSettings: KindSettings) => unknown>> = {
  ClearingNominatedNodeNameAfterBinding: change(pods, pod({ nodeName: 'n' }), ({ status }) => (status.nominatedNodeName = 'm'), 'status'),
  ClusterTrustBundleProjection: make(pods, projected({ clusterTrustBundle: { name: 'b', path: 'p' } })),
  ContainerRestartRules: make(pods, pod({}, { restartPolicy: 'Never' })),
  ContainerStopSignals: make(pods, pod({ os: { name: 'linux' } }, { lifecycle: { stopSignal: 'SIGTERM' } })),
  CoordinatedLeaderElection: make(leases, { spec: { strategy: 'OldestEmulationVersion' } }),
  CRDObservedGenerationTracking: change(
    customResourceDefinitions,
    { metadata: { name: 'as.b.io' }, spec: { group: 'b.io', scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions: [] } },
    ({ status }) => (status.observedGeneration = 1),
    'status',
  ),
  CrossNamespaceVolumeDataSource: make(persistentVolumeClaims, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1' } },
      dataSourceRef: { apiGroup: 'a.io', kind: 'K', name: 'n', namespace: 'o' },
    },
  }),
  CSIServiceAccountTokenSecrets: make(csiDrivers, {
    metadata: { name: 'x' },
    spec: { tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: true },
  }),
  DeploymentReplicaSetTerminatingReplicas: change(deployments, workload, ({ status }) => (status.terminatingReplicas = 1), 'status'),
  DRAAdminAccess: make(resourceClaims, exactly({ adminAccess: true })),
  DRAConsumableCapacity: make(resourceSlices, slice({ allowMultipleAllocations: true })),
  DRADeviceBindingConditions: results({ bindingConditions: ['a'], bindingFailureConditions: ['b'] }),
  DRADeviceTaints: make(resourceSlices, slice({ taints: [{ key: 'k', effect: 'NoExecute' }] })),
  DRAExtendedResource: make(deviceClasses, { metadata: { name: 'x' }, spec: { extendedResourceName: 'a.io/b' } }),
  DRAListTypeAttributes: make(resourceSlices, slice({ attributes: { a: { ints: [1] } } })),
  DRANodeAllocatableResources: make(resourceSlices, slice({ nodeAllocatableResourceMappings: { cpu: { allocationMultiplier: '1' } } })),
  DRAPartitionableDevices: make(resourceSlices, slice({}, { nodeName: undefined, perDeviceNodeSelection: true })),
  DRAPrioritizedList: make(resourceClaims, claim({ requests: [{ name: 'r', firstAvailable: [{ name: 's', deviceClassName: 'c' }] }] })),
  DRAResourceClaimDeviceStatus: change(
    resourceClaims,
    exactly({}),
    (object) => (object.status = { devices: [{ driver: 'd.io', pool: 'p', device: 'd' }] }),
    'status',
  ),
  DRAWorkloadResourceClaims: make(podGroups, { spec: { schedulingPolicy: { basic: {} }, resourceClaims: [{ name: 'c', resourceClaimName: 'r' }] } }),
  DynamicResourceAllocation: make(pods, pod({ resourceClaims: [{ name: 'c', resourceClaimName: 'r' }] }, { resources: { claims: [{ name: 'c' }] } })),
  EnvFiles: make(pods, pod({}, { env: [{ name: 'E', valueFrom: { fileKeyRef: { key: 'k', path: 'p', volumeName: 'v' } } }] })),
  GenericWorkload: make(pods, pod({ schedulingGroup: { podGroupName: 'g' } })),
  HostnameOverride: make(pods, pod({ hostnameOverride: 'h' })),
  HPAConfigurableTolerance: make(horizontalPodAutoscalers, autoscaler({ behavior: { scaleUp: { tolerance: '0.1' } } })),
  HPAScaleToZero: make(horizontalPodAutoscalers, autoscaler({ minReplicas: 0 })),
  ImageVolume: make(pods, pod({ volumes: [{ name: 'v', image: { reference: 'i' } }] }, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })),
  ImageVolumeWithDigest: containerStatus({ volumeMounts: [{ name: 'v', mountPath: '/', volumeStatus: { image: { imageRef: 'r' } } }] }),
  InPlacePodLevelResourcesVerticalScaling: podStatus({ resources: { requests: { cpu: '1' } } }),
  InPlacePodVerticalScalingInitContainers: resized({ initContainers: [{ name: 'i', image: 'i', resources: { requests: { cpu: '1' } } }] }, (spec) => {
    spec.initContainers[0].resources.requests.cpu = '2';
  }),
  ManifestBasedAdmissionControlConfig: make(validatingWebhookConfigurations, { metadata: { name: 'x.static.k8s.io' } }),
  MatchLabelKeysInPodTopologySpread: make(pods, spread({ matchLabelKeys: ['app'] })),
  MatchLabelKeysInPodTopologySpreadSelectorMerge: make(pods, spread({ matchLabelKeys: ['app'] })),
  MaxUnavailableStatefulSet: make(statefulSets, { spec: { ...workload.spec, serviceName: 's', updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } } }),
  MutableCSINodeAllocatableCount: change(
    csiNodes,
    { metadata: { name: 'x' }, spec: { drivers: [{ name: 'd.io', nodeID: 'n', allocatable: { count: 1 } }] } },
    ({ spec }) => (spec.drivers[0].allocatable.count = 2),
  ),
  MutablePodResourcesForSuspendedJobs: suspended((spec) => (spec.containers[0].resources = { requests: { cpu: '1' } })),
  MutablePVNodeAffinity: change(
    persistentVolumes,
    {
      metadata: { name: 'x' },
      spec: {
        capacity: { storage: '1' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/x' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] } },
      },
    },
    ({ spec }) => (spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key = 'b'),
  ),
  MutableSchedulingDirectivesForSuspendedJobs: suspended((spec) => (spec.nodeSelector = { a: 'b' }), {
    startTime: '2026-01-01T00:00:00Z',
    conditions: [{ type: 'Suspended', status: 'True' }],
  }),
  NodeDeclaredFeatures: make(nodes, { metadata: { name: 'x' }, status: { declaredFeatures: ['A'] } }),
  PodCertificateRequest: make(pods, projected({ podCertificate: { signerName: 'a.io/b', keyType: 'ED25519', credentialBundlePath: 'p' } })),
  PodDeletionCost: make(pods, { metadata: { name: 'x', namespace: 'n', annotations: { 'controller.kubernetes.io/pod-deletion-cost': 'y' } }, ...pod() }),
  PodLevelResources: make(pods, pod({ resources: { requests: { cpu: '1' } } })),
  PodObservedGenerationTracking: podStatus({ observedGeneration: 1 }),
  PreferSameTrafficDistribution: make(endpointSlices, { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints: { forNodes: [{ name: 'n' }] } }] }),
  RelaxedServiceNameValidation: make(ingresses, { spec: { defaultBackend: { service: { name: '1a', port: { number: 1 } } } } }),
  ResourceHealthStatus: containerStatus({ allocatedResourcesStatus: [{ name: 'a.io/b', resources: [{ resourceID: 'r' }] }] }),
  ResourceHealthStatusMessage: containerStatus({ allocatedResourcesStatus: [{ name: 'a.io/b', resources: [{ resourceID: 'r', message: 'm' }] }] }),
  RestartAllContainersOnContainerExits: make(
    pods,
    pod({}, { restartPolicy: 'Never', restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }] }),
  ),
  SELinuxMount: make(pods, pod({ securityContext: { seLinuxChangePolicy: 'MountOption' } })),
  StrictIPCIDRValidation: make(endpoints, { subsets: [{ addresses: [{ ip: '010.0.0.1' }], ports: [{ port: 1 }] }] }),
  TaintTolerationComparisonOperators: make(pods, pod({ tolerations: [{ key: 'a', operator: 'Gt', value: '1', effect: 'NoSchedule' }] })),
  TopologyAwareWorkloadScheduling: make(podGroups, { spec: { schedulingPolicy: { basic: {} }, schedulingConstraints: { topology: [{ key: 'a' }] } } }),
  UserNamespacesHostNetworkSupport: make(pods, pod({ hostUsers: false, hostNetwork: true })),
  VolumeAttributesClass: make(persistentVolumeClaims, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } }, volumeAttributesClassName: 'gold' },
  }),
  VolumeLimitScaling: make(csiDrivers, { metadata: { name: 'x' }, spec: { preventPodSchedulingIfMissing: true } }),
  WorkloadAwarePreemption: make(podGroups, { spec: { schedulingPolicy: { basic: {} }, priority: 7 } }),
};

/** Their kinds come and go as a whole: kube/kinds.test.ts. */
const OF_WHOLE_KINDS: ReadonlySet<string> = new Set<ApiFeature>(['ClusterTrustBundle', 'ServiceCIDRStatusFieldWiping', 'StorageVersionMigrator']);

test.each(Object.entries(PROBES))('%s makes a difference', (feature, probe) => {
  const outcome = (isOn: boolean): string => stable(probe(settings(feature as ApiFeature, isOn)));
  expect(outcome(true)).not.toBe(outcome(false));
});

test('no feature is left out', () => {
  expect([...apiFeatures.keys()].filter((feature) => !Object.hasOwn(PROBES, feature) && !OF_WHOLE_KINDS.has(feature))).toEqual([]);
});

describe('fields of a feature that is off', () => {
  const off = settings('HostnameOverride', false);
  const withField = created(pods, { metadata: { name: 'x', namespace: 'n' }, ...pod({ hostnameOverride: 'h' }) }).object;

  test('go', () => {
    const { object } = created(as(pods, off), { metadata: { name: 'x', namespace: 'n' }, ...pod({ hostnameOverride: 'h' }) });
    expect(object.spec.hostnameOverride).toBeUndefined();
  });

  test('stay where they are already', () => {
    const { object } = updated(as(pods, off), withField, ({ metadata }) => (metadata.labels = { a: 'b' }));
    expect(object.spec.hostnameOverride).toBe('h');
  });
});

describe('two servers in one process', () => {
  const one = as(pods, { features: new Set(), allowsPrivileged: true });
  const other = as(pods, settings('HostnameOverride', true));
  const sent = { metadata: { name: 'x', namespace: 'n' }, ...pod({ hostnameOverride: 'h' }, { securityContext: { privileged: true } }) };

  test('each check by their own flags', () => {
    expect(created(one, sent)).toMatchObject({ object: { spec: { containers: [{ name: 'c' }] } }, problems: [] });
    expect((created(one, sent).object as Loose).spec.hostnameOverride).toBeUndefined();
    expect((created(other, sent).object as Loose).spec.hostnameOverride).toBe('h');
    expect(created(other, sent).problems).toEqual(['spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy']);
  });
});

test('names of services begin with letters where they are not relaxed', () => {
  const services = defineServices({});
  expect(services.naming?.errors?.('1a', false, services.settings)).toEqual([]);
  expect(services.naming?.errors?.('1a', false, settings('RelaxedServiceNameValidation', false))).toHaveLength(1);
});

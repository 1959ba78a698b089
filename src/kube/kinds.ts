import { configMaps } from '../apis/core/config-map.ts';
import { defineCoreEvents } from '../apis/core/event.ts';
import { endpoints } from '../apis/core/endpoints.ts';
import { limitRanges } from '../apis/core/limit-range.ts';
import { namespaces } from '../apis/core/namespace.ts';
import { nodes } from '../apis/core/node.ts';
import { persistentVolumeClaims } from '../apis/core/persistent-volume-claim.ts';
import { persistentVolumes } from '../apis/core/persistent-volume.ts';
import { podTemplates } from '../apis/core/pod-template.ts';
import { pods } from '../apis/core/pod/pod.ts';
import { replicationControllers } from '../apis/core/replication-controller.ts';
import { resourceQuotas } from '../apis/core/resource-quota.ts';
import { secrets } from '../apis/core/secret.ts';
import { defineServices } from '../apis/core/service.ts';
import { type ServiceAllocators, serviceAllocation } from '../apis/core/service/allocation.ts';
import { serviceAccounts } from '../apis/core/service-account.ts';
import { mutatingAdmissionPolicies } from '../apis/admissionregistration/mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBindings } from '../apis/admissionregistration/mutating-admission-policy-binding.ts';
import { mutatingWebhookConfigurations } from '../apis/admissionregistration/mutating-webhook-configuration.ts';
import { validatingAdmissionPolicies } from '../apis/admissionregistration/validating-admission-policy.ts';
import { validatingAdmissionPolicyBindings } from '../apis/admissionregistration/validating-admission-policy-binding.ts';
import { validatingWebhookConfigurations } from '../apis/admissionregistration/validating-webhook-configuration.ts';
import { storageVersions } from '../apis/apiserverinternal/storage-version.ts';
import { controllerRevisions } from '../apis/apps/controller-revision.ts';
import { daemonSets } from '../apis/apps/daemon-set.ts';
import { deployments } from '../apis/apps/deployment.ts';
import { replicaSets } from '../apis/apps/replica-set.ts';
import { statefulSets } from '../apis/apps/stateful-set.ts';
import { horizontalPodAutoscalers } from '../apis/autoscaling/horizontal-pod-autoscaler.ts';
import { cronJobs } from '../apis/batch/cron-job.ts';
import { jobs } from '../apis/batch/job.ts';
import { certificateSigningRequests } from '../apis/certificates/certificate-signing-request.ts';
import { type CertificateListener, tellingDurations } from '../apis/certificates/certificate-duration.ts';
import { clusterTrustBundles } from '../apis/certificates/cluster-trust-bundle.ts';
import { podCertificateRequests } from '../apis/certificates/pod-certificate-request.ts';
import { leases } from '../apis/coordination/lease.ts';
import { leaseCandidates } from '../apis/coordination/lease-candidate.ts';
import { endpointSlices } from '../apis/discovery/endpoint-slice.ts';
import { defineEvents } from '../apis/events/event.ts';
import type { KindSettings } from '../registry/write.ts';
import type { ApiFeature } from '../apis/features.ts';
import { copyWith } from '../apis/define.ts';
import { withSettings } from '../apis/with-settings.ts';
import { flowSchemas } from '../apis/flowcontrol/flow-schema.ts';
import { priorityLevelConfigurations } from '../apis/flowcontrol/priority-level-configuration.ts';
import { ingresses } from '../apis/networking/ingress.ts';
import { ingressClasses } from '../apis/networking/ingress-class.ts';
import { ipAddresses } from '../apis/networking/ip-address.ts';
import { networkPolicies } from '../apis/networking/network-policy.ts';
import { serviceCidrs } from '../apis/networking/service-cidr.ts';
import { runtimeClasses } from '../apis/node/runtime-class.ts';
import { podDisruptionBudgets } from '../apis/policy/pod-disruption-budget.ts';
import { clusterRoles } from '../apis/rbac/cluster-role.ts';
import { clusterRoleBindings } from '../apis/rbac/cluster-role-binding.ts';
import { roles } from '../apis/rbac/role.ts';
import { roleBindings } from '../apis/rbac/role-binding.ts';
import { deviceClasses } from '../apis/resource/device-class.ts';
import { deviceTaintRules } from '../apis/resource/device-taint-rule.ts';
import { resourceClaims } from '../apis/resource/resource-claim.ts';
import { resourceClaimTemplates } from '../apis/resource/resource-claim-template.ts';
import { resourcePoolStatusRequests } from '../apis/resource/resource-pool-status-request.ts';
import { resourceSlices } from '../apis/resource/resource-slice.ts';
import { podGroups } from '../apis/scheduling/pod-group.ts';
import { priorityClasses } from '../apis/scheduling/priority-class.ts';
import { workloads } from '../apis/scheduling/workload.ts';
import { csiDrivers } from '../apis/storage/csi-driver.ts';
import { csiNodes } from '../apis/storage/csi-node.ts';
import { csiStorageCapacities } from '../apis/storage/csi-storage-capacity.ts';
import { storageClasses } from '../apis/storage/storage-class.ts';
import { volumeAttachments } from '../apis/storage/volume-attachment.ts';
import { volumeAttributesClasses } from '../apis/storage/volume-attributes-class.ts';
import { storageVersionMigrations } from '../apis/storagemigration/storage-version-migration.ts';
import type { ResourceDefinition } from '../registry/definition.ts';

/** Kinds that are the same in every server, by group. */
const KINDS: readonly ResourceDefinition[] = [
  configMaps,
  endpoints,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podTemplates,
  pods,
  replicationControllers,
  resourceQuotas,
  secrets,
  serviceAccounts,
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  controllerRevisions,
  daemonSets,
  deployments,
  replicaSets,
  statefulSets,
  horizontalPodAutoscalers,
  cronJobs,
  jobs,
  certificateSigningRequests,
  leases,
  leaseCandidates,
  storageVersions,
  endpointSlices,
  flowSchemas,
  priorityLevelConfigurations,
  ingresses,
  ingressClasses,
  ipAddresses,
  networkPolicies,
  serviceCidrs,
  runtimeClasses,
  podDisruptionBudgets,
  clusterRoles,
  clusterRoleBindings,
  roles,
  roleBindings,
  deviceClasses,
  deviceTaintRules,
  resourceClaims,
  resourceClaimTemplates,
  resourcePoolStatusRequests,
  resourceSlices,
  priorityClasses,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
];

const GATED_KINDS: readonly (readonly [ApiFeature, ResourceDefinition])[] = [
  ['ClusterTrustBundle', clusterTrustBundles],
  ['PodCertificateRequest', podCertificateRequests],
  ['StorageVersionMigrator', storageVersionMigrations],
  ['GenericWorkload', podGroups],
  ['GenericWorkload', workloads],
];

export interface KindOptions {
  settings: KindSettings;
  allocators: ServiceAllocators;
  /** --event-ttl */
  eventTtlSeconds: number;
  now: () => Date;
  /** Called with certificates that were issued. */
  onCertificateIssued?: CertificateListener;
  /** The definition with the version that --min-compatibility-version has it stored in. */
  inStorageVersion?: ((definition: ResourceDefinition) => ResourceDefinition) | undefined;
}

/** Clients wrote its status with the rest, once. */
const isServiceCidrsAsBefore = ({ plural }: ResourceDefinition, { features }: KindSettings): boolean =>
  plural === 'servicecidrs' && !features.has('ServiceCIDRStatusFieldWiping');

function adapted(definition: ResourceDefinition, { settings, onCertificateIssued }: KindOptions): ResourceDefinition {
  if (isServiceCidrsAsBefore(definition, settings)) return copyWith(definition, { hasStatus: false });
  if (definition.plural === 'certificatesigningrequests' && onCertificateIssued) return tellingDurations(definition, onCertificateIssued);
  return definition;
}

/** All of them, with those that need something of the server they stand in. */
export function kubeKinds(options: KindOptions): ResourceDefinition[] {
  const { allocators, eventTtlSeconds, settings, now, inStorageVersion = (definition: ResourceDefinition) => definition } = options;
  return [
    ...KINDS.map((definition) => adapted(definition, options)),
    ...GATED_KINDS.filter(([feature]) => settings.features.has(feature)).map(([, definition]) => definition),
    defineServices(serviceAllocation(allocators, settings)),
    defineCoreEvents(eventTtlSeconds),
    defineEvents(eventTtlSeconds),
  ].map((definition) => withSettings(inStorageVersion(definition as ResourceDefinition), settings, now));
}

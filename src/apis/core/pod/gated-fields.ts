import type { KindSettings } from '../../../registry/write.ts';
import type { Pod, PodSpec } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { type GatedFields, dropGatedFields } from '../../gated-fields.ts';
import { CONTAINER_LISTS, containersOf, isSidecar } from './containers-of.ts';

const ofContainers = (path: string): string[] => CONTAINER_LISTS.map((list) => `${list}.*.${path}`);
const ofStatuses = (path: string): string[] => ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `${list}.*.${path}`);

/** pkg/api/pod dropDisabledFields */
const SPEC_FIELDS: GatedFields = [
  ['GenericWorkload', ['schedulingGroup']],
  ['ClusterTrustBundleProjection', ['volumes.*.projected.sources.*.clusterTrustBundle']],
  ['PodCertificateRequest', ['volumes.*.projected.sources.*.podCertificate']],
  ['PodLevelResources', ['resources']],
  ['MatchLabelKeysInPodTopologySpread', ['topologySpreadConstraints.*.matchLabelKeys']],
  ['HostnameOverride', ['hostnameOverride']],
  ['EnvFiles', ofContainers('env.*.valueFrom.fileKeyRef')],
  ['DynamicResourceAllocation', ['resourceClaims', ...ofContainers('resources.claims')]],
];

/** dropDisabledPodStatusFields */
const STATUS_FIELDS: GatedFields = [
  ['InPlacePodLevelResourcesVerticalScaling', ['resources', 'allocatedResources']],
  ['DRAExtendedResource', ['extendedResourceClaimStatus']],
  ['ResourceHealthStatus', ofStatuses('allocatedResourcesStatus')],
  ['ResourceHealthStatusMessage', ofStatuses('allocatedResourcesStatus.*.resources.*.message')],
  ['ImageVolumeWithDigest', ofStatuses('volumeMounts.*.volumeStatus')],
  ['DRANodeAllocatableResources', ['nodeAllocatableResourceClaimStatuses']],
  ['PodObservedGenerationTracking', ['observedGeneration', 'conditions.*.observedGeneration']],
];

export function dropGatedSpecFields(spec: PodSpec, old: PodSpec | undefined, settings: KindSettings): void {
  dropGatedFields(SPEC_FIELDS, spec, old, settings);
  if (!isFeatureOn(settings, 'ContainerRestartRules') && (!old || !usesRestartRules(old))) dropRestartRules(spec);
  if (!isFeatureOn(settings, 'ContainerStopSignals') && (!old || !hasStopSignal(old))) dropStopSignals(spec);
  if (!isFeatureOn(settings, 'ImageVolume') && !old?.volumes?.some(({ image }) => image)) dropImageVolumes(spec);
}

export function dropGatedStatusFields({ status }: Pod, old: Pod, settings: KindSettings): void {
  dropGatedFields(STATUS_FIELDS, status, old.status, settings);
  if (!isFeatureOn(settings, 'DynamicResourceAllocation') && !old.spec.resourceClaims?.length) delete status.resourceClaimStatuses;
}

/** With what mounts them. */
function dropImageVolumes(spec: PodSpec): void {
  const dropped = new Set(spec.volumes?.filter(({ image }) => image).map(({ name }) => name));
  if (dropped.size === 0) return;
  spec.volumes = spec.volumes!.filter(({ name, image }) => !image || !dropped.has(name));
  for (const container of containersOf(spec)) container.volumeMounts &&= container.volumeMounts.filter(({ name }) => !dropped.has(name));
}

/** Sidecars are told by their policy: it is older than the feature. */
export const usesRestartRules = ({ initContainers = [], containers }: PodSpec): boolean =>
  initContainers.some((container) => (container.restartPolicy !== undefined && !isSidecar(container)) || (container.restartPolicyRules ?? []).length > 0) ||
  (containers ?? []).some(({ restartPolicy }) => restartPolicy !== undefined);

function dropRestartRules(spec: PodSpec): void {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar));
  for (const container of containersOf(spec)) {
    delete container.restartPolicyRules;
    if (!sidecars.has(container)) delete container.restartPolicy;
  }
}

const hasStopSignal = (spec: PodSpec): boolean => containersOf(spec).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined);

function dropStopSignals(spec: PodSpec): void {
  for (const container of containersOf(spec)) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
}

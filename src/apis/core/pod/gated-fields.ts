import type { KindSettings } from '../../../registry/write.ts';
import type { PodSpec, PodStatus } from '../../facts/types/core-v1.ts';
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
];

/** dropDisabledPodStatusFields */
const STATUS_FIELDS: GatedFields = [
  ['InPlacePodLevelResourcesVerticalScaling', ['resources', 'allocatedResources']],
  ['DRAExtendedResource', ['extendedResourceClaimStatus']],
  ['ResourceHealthStatus', ofStatuses('allocatedResourcesStatus')],
  ['ResourceHealthStatusMessage', ofStatuses('allocatedResourcesStatus.*.resources.*.message')],
  ['ImageVolumeWithDigest', ofStatuses('volumeMounts.*.volumeStatus')],
  ['DRANodeAllocatableResources', ['nodeAllocatableResourceClaimStatuses']],
];

export function dropGatedSpecFields(spec: PodSpec, old: PodSpec | undefined, settings: KindSettings): void {
  dropGatedFields(SPEC_FIELDS, spec, old, settings);
  if (!isFeatureOn(settings, 'ContainerRestartRules') && (!old || !usesRestartRules(old))) dropRestartRules(spec);
  if (!isFeatureOn(settings, 'ContainerStopSignals') && (!old || !hasStopSignal(old))) dropStopSignals(spec);
}

export const dropGatedStatusFields = (status: PodStatus, old: PodStatus, settings: KindSettings): void => dropGatedFields(STATUS_FIELDS, status, old, settings);

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

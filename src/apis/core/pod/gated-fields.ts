import type { PodSpec, PodStatus, Volume, VolumeProjection } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { containersOf } from './containers-of.ts';

const PROJECTIONS = [
  ['ClusterTrustBundleProjection', 'clusterTrustBundle'],
  ['PodCertificateRequest', 'podCertificate'],
] as const;

/**
 * Fields of features that are off. A client may send them, and they are taken out, unless the object has them already
 * (pkg/api/pod dropDisabledFields, dropDisabledPodStatusFields).
 */
export function dropGatedSpecFields(spec: PodSpec, old: PodSpec | undefined): void {
  if (spec.schedulingGroup && !old?.schedulingGroup && !isFeatureOn('GenericWorkload')) delete spec.schedulingGroup;
  for (const [feature, source] of PROJECTIONS) if (!isFeatureOn(feature) && !hasProjection(old, source)) dropProjection(spec, source);
  if (!isFeatureOn('ContainerStopSignals') && (!old || !hasStopSignal(old))) dropStopSignals(spec);
}

type Projection = keyof VolumeProjection;

const projectionsOf = ({ projected }: Volume): readonly VolumeProjection[] => projected?.sources ?? [];

const hasProjection = (spec: PodSpec | undefined, source: Projection): boolean =>
  (spec?.volumes ?? []).some((volume) => projectionsOf(volume).some((projection) => projection[source] !== undefined));

function dropProjection({ volumes = [] }: PodSpec, source: Projection): void {
  for (const volume of volumes) for (const projection of projectionsOf(volume)) delete projection[source];
}

const hasStopSignal = (spec: PodSpec): boolean => [...containersOf(spec)].some(({ lifecycle }) => lifecycle?.stopSignal !== undefined);

function dropStopSignals(spec: PodSpec): void {
  for (const container of containersOf(spec)) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
}

const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

export function dropGatedStatusFields(status: PodStatus, old: PodStatus): void {
  if (!isFeatureOn('DRANodeAllocatableResources') && !old.nodeAllocatableResourceClaimStatuses) delete status.nodeAllocatableResourceClaimStatuses;
  if (!isFeatureOn('ImageVolumeWithDigest') && !mountStatuses(old).some(({ volumeStatus }) => volumeStatus))
    for (const mount of mountStatuses(status)) delete mount.volumeStatus;
}

const mountStatuses = (status: PodStatus) => STATUS_LISTS.flatMap((list) => (status[list] ?? []).flatMap(({ volumeMounts }) => volumeMounts ?? []));

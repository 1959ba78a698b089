import type { Write } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { timeOf } from '../../util/time.ts';
import { defineResource } from '../define.ts';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../facts/types/core-v1.ts';
import { isFeatureOn } from '../features.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { deprecatedNodeLabel } from '../validation/deprecated-node-labels.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateOwnMetadata } from '../validation/own-metadata.ts';
import { STORAGE_CLASS_ANNOTATION, accessModesText, phaseOf, storageClassOf } from './persistent-volume/cells.ts';
import { VOLUME_SOURCES } from './persistent-volume/sources.ts';
import { validateVolumeSpec } from './persistent-volume/spec.ts';
import { internalPodPart } from './pod/internal-form.ts';
import { roundToThousandths } from './pod/resource-lists.ts';
import { internalDiff } from './pod/internal-diff.ts';
import { defaultVolume } from './pod/volume-defaults.ts';

const PENDING = 'Pending';
const GATED: GatedFields = [['VolumeAttributesClass', ['spec.volumeAttributesClassName']]];
export const ATTRIBUTES_FIXED = 'update is forbidden when the VolumeAttributesClass feature gate is disabled';
const MOUNT_OPTIONS_ANNOTATION = 'volume.beta.kubernetes.io/mount-options';
/** Kinds of volumes that can be mounted with options. */
const MOUNTABLE = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;
const DEPRECATED_ANNOTATIONS: Record<string, string> = {
  [STORAGE_CLASS_ANNOTATION]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  [MOUNT_OPTIONS_ANNOTATION]: 'deprecated since v1.31; use "mountOptions" attribute instead',
};
/** Plug-ins that are gone, with the path that warnings give them. */
const DEPRECATED_SOURCES: readonly (readonly [keyof PersistentVolumeSource, string])[] = [
  ['cephfs', 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'spec.storageOS: deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'spec.rbd: deprecated in v1.28, non-functional in v1.31+'],
];
/** Labels of nodes that were renamed: the one change that a volume's affinity may see. */
const RENAMED_LABELS: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

/** A piece of storage, made by an administrator or for a claim. */
export const persistentVolumes = defineResource<PersistentVolume>('v1/persistentvolumes', {
  default({ spec, status }) {
    status.phase ??= PENDING;
    spec.persistentVolumeReclaimPolicy ??= 'Retain';
    spec.volumeMode ??= 'Filesystem';
    roundToThousandths(spec.capacity);
    defaultVolumeSources(spec);
  },
  prepareForCreate({ object: volume, settings, now }) {
    dropGatedFields(GATED, volume, undefined, settings);
    volume.status = { phase: PENDING, lastPhaseTransitionTime: timeOf(now) };
  },

  prepareForUpdate: ({ object: volume, old, settings }) => dropGatedFields(GATED, volume, old, settings),

  // An update is validated whole twice, and what updates must keep only once.
  validatesMetadataUpdate: false,
  validatesWhole: 'before',
  validate({ object: volume, old }, errors) {
    validateFinalizerNames(volume.metadata, errors);
    validateVolumeSpec(volume.spec, volume.metadata.name ?? '', errors.at('spec'), { old: old?.spec });
    validateMountOptions(volume, errors.at('metadata', 'annotations', MOUNT_OPTIONS_ANNOTATION));
  },
  validateUpdate({ object: volume, old, settings }, errors) {
    validateOwnMetadata(volume.metadata, false, errors);
    validateVolumeSpec(volume.spec, volume.metadata.name ?? '', errors.at('spec'), { old: old.spec });
    validateSourceKept(volume.spec, old.spec, errors.at('spec', 'persistentvolumesource'));
    validateUnchanged(volume.spec.volumeMode, old.spec.volumeMode, errors.at('volumeMode'));
    if (old.spec.nodeAffinity && !isFeatureOn(settings, 'MutablePVNodeAffinity'))
      validateAffinityKept(volume.spec.nodeAffinity, old.spec.nodeAffinity, errors.at('nodeAffinity'));
    const [name, former] = [volume.spec.volumeAttributesClassName, old.spec.volumeAttributesClassName];
    const at = errors.at('spec', 'volumeAttributesClassName');
    if (name !== former && !isFeatureOn(settings, 'VolumeAttributesClass')) at.forbidden(ATTRIBUTES_FIXED);
    if (former !== undefined && name === undefined) at.forbidden('update from non-nil value to nil is forbidden');
  },
  warnings: volumeWarnings,

  subresources: {
    status: {
      update: {
        prepareForUpdate({ object: { status }, old: { status: old }, now }) {
          const isGiven = status.lastPhaseTransitionTime !== undefined && status.lastPhaseTransitionTime !== old.lastPhaseTransitionTime;
          if (isGiven) return;
          if (status.phase !== old.phase) status.lastPhaseTransitionTime = timeOf(now);
          else if (old.lastPhaseTransitionTime !== undefined) status.lastPhaseTransitionTime = old.lastPhaseTransitionTime;
        },
        validateUpdate: ({ object: { metadata } }, errors) => validateFinalizerNames(metadata, errors),
      },
    },
  },

  cells: {
    Capacity: ({ spec }) => spec.capacity?.['storage'] ?? '0',
    'Access Modes': ({ spec }) => accessModesText(spec.accessModes),
    'Reclaim Policy': ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '',
    Status: phaseOf,
    Claim: ({ spec: { claimRef } }) => (claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : ''),
    StorageClass: storageClassOf,
    VolumeAttributesClass: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
    Reason: ({ status }) => status.reason ?? '',
    VolumeMode: ({ spec }) => spec.volumeMode ?? '<unset>',
  },
});

/** Those of pods' volumes, as far as the kinds of volumes are the same. */
export function defaultVolumeSources({ hostPath, rbd, iscsi, azureDisk, scaleIO }: PersistentVolumeSpec): void {
  defaultVolume({
    name: '',
    ...(hostPath && { hostPath }),
    ...(rbd && { rbd }),
    ...(iscsi && { iscsi }),
    ...(azureDisk && { azureDisk }),
    ...(scaleIO && { scaleIO }),
  } as never);
}

function validateMountOptions({ metadata, spec }: PersistentVolume, errors: FieldErrors): void {
  const hasOptions = metadata.annotations?.[MOUNT_OPTIONS_ANNOTATION] !== undefined;
  if (hasOptions && !MOUNTABLE.some((source) => spec[source])) errors.forbidden('may not specify mount options for this volume type');
}

const sourceOf = (spec: PersistentVolumeSpec): PersistentVolumeSource =>
  Object.fromEntries(VOLUME_SOURCES.flatMap((name) => (spec[name] ? [[name, spec[name]]] : [])));

/** Only the secret for expansion may be added later. */
function validateSourceKept(spec: PersistentVolumeSpec, old: PersistentVolumeSpec, errors: FieldErrors): void {
  const [before, after] = [sourceOf(old), sourceOf(spec)];
  if (before.csi && after.csi && !before.csi.controllerExpandSecretRef) {
    const { controllerExpandSecretRef: _, ...csi } = after.csi;
    after.csi = csi;
  }
  if (equalJson(before, after)) return;
  const diff = internalDiff(before, after, (value) => internalPodPart('PersistentVolumeSource', value));
  errors.forbidden(`spec.persistentvolumesource is immutable after creation\n${diff}`);
}

function validateAffinityKept(affinity: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity, errors: FieldErrors): void {
  const after = affinity?.required?.nodeSelectorTerms ?? [];
  const before = (old.required?.nodeSelectorTerms ?? []).map((term, index) => renamedAs(term, after[index]));
  const isSame = Boolean(affinity?.required) === Boolean(old.required) && equalJson(before, after);
  if (!isSame)
    errors.invalid(affinity ? internalPodPart('VolumeNodeAffinity', affinity) : null, 'field is immutable, except for updating from beta label to GA');
}

function renamedAs(term: NodeSelectorTerm, next: NodeSelectorTerm | undefined): NodeSelectorTerm {
  const renamed = { ...term };
  for (const part of ['matchExpressions', 'matchFields'] as const) {
    const list = term[part];
    if (list) renamed[part] = list.map((requirement, index) => withNewKey(requirement, next?.[part]?.[index]?.key));
  }
  return renamed;
}

const withNewKey = (requirement: NodeSelectorRequirement, key: string | undefined): NodeSelectorRequirement =>
  key !== undefined && RENAMED_LABELS.get(requirement.key) === key ? { ...requirement, key } : requirement;

function volumeWarnings({ object: { metadata, spec } }: Write<PersistentVolume>): string[] {
  const annotations = Object.keys(DEPRECATED_ANNOTATIONS).filter((key) => metadata.annotations?.[key] !== undefined);
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const path = 'spec.nodeAffinity.required.nodeSelectorTerms';
  return [
    ...annotations.map((key) => `metadata.annotations[${key}]: ${DEPRECATED_ANNOTATIONS[key]}`),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? ['spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.']
      : []),
    ...terms.flatMap(({ matchExpressions = [] }, i) =>
      matchExpressions.flatMap(({ key }, j) =>
        deprecatedNodeLabel(key) === undefined ? [] : [`${path}[${i}].matchExpressions[${j}].key: ${key} is ${deprecatedNodeLabel(key)}`],
      ),
    ),
    ...DEPRECATED_SOURCES.filter(([source]) => spec[source]).map(([, warning]) => warning),
  ];
}

import type { Change } from '../../registry/write.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { subdomainName } from '../../api/names.ts';
import { defaultVolumeSources } from '../core/persistent-volume.ts';
import { validateVolumeSpec } from '../core/persistent-volume/spec.ts';
import { internalPodPart } from '../core/pod/internal-form.ts';
import { roundToThousandths } from '../core/pod/resource-lists.ts';
import { validateCsiDriverName } from '../core/pod/volume-sources.ts';
import { defineResource } from '../define.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec, VolumeError } from '../facts/types/storage-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { inclusiveRangeError } from '../validation/ports.ts';

const METADATA_MAX_BYTES = 256 * 1024;
const MESSAGE_MAX_BYTES = 1024;
const EXACTLY_ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

/** Each for itself: one error's code says nothing of the other's. */
const GATED_STATUS: readonly GatedFields[] = ['attachError', 'detachError'].map((error) => [['MutableCSINodeAllocatableCount', [`status.${error}.errorCode`]]]);

const rules: UpdateRules<VolumeAttachment> = {
  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validateUpdate({ object: { spec }, old }, errors) {
    if (!equalJson(spec, old.spec)) errors.at('spec').invalid(internalSpec(spec), 'field is immutable');
  },
};

/** Wants a volume on a node, and is told whether it is there. */
export const volumeAttachments = defineResource<VolumeAttachment>('storage.k8s.io/v1/volumeattachments', {
  ...rules,
  allowsUnconditionalUpdate: false,

  default({ spec: { source } }) {
    if (!source.inlineVolumeSpec) return;
    roundToThousandths(source.inlineVolumeSpec.capacity);
    defaultVolumeSources(source.inlineVolumeSpec);
  },

  validate({ object: { metadata, spec, status } }, errors) {
    validateFinalizerNames(metadata, errors);
    validateCsiDriverName(spec.attacher, errors.at('spec', 'attacher'));
    validateSource(spec.source, errors.at('spec', 'source'));
    for (const error of subdomainName(spec.nodeName, false)) errors.at('spec', 'nodeName').invalid(spec.nodeName, error);
    validateAttachmentMetadata(status?.attachmentMetadata, errors.at('status', 'attachmentMetadata'));
    validateVolumeError(status?.attachError, errors.at('status', 'attachError'));
    validateVolumeError(status?.detachError, errors.at('status', 'detachError'));
    const { persistentVolumeName: name } = spec.source;
    if (name !== undefined) for (const error of subdomainName(name, false)) errors.at('spec.source.persistentVolumeName').invalid(name, error);
  },

  subresources: { status: { update: { ...rules, prepareForUpdate } } },

  cells: {
    Attacher: ({ spec }) => spec.attacher,
    PV: ({ spec }) => spec.source.persistentVolumeName ?? '',
    Node: ({ spec }) => spec.nodeName,
    Attached: ({ status }) => status?.attached ?? false,
  },
});

function prepareForUpdate(write: Change<VolumeAttachment>): void {
  keepMetadataForStatus(write);
  for (const gated of GATED_STATUS) dropGatedFields(gated, write.object, write.old, write.settings);
}

function validateSource({ inlineVolumeSpec, persistentVolumeName }: VolumeAttachmentSource, errors: FieldErrors): void {
  if (!inlineVolumeSpec && persistentVolumeName === undefined) errors.required(EXACTLY_ONE);
  else if (inlineVolumeSpec && persistentVolumeName !== undefined) errors.forbidden(EXACTLY_ONE);
  else if (inlineVolumeSpec) validateVolumeSpec(inlineVolumeSpec, '', errors.at('inlineVolumeSpec'), { isInline: true });
  else if (persistentVolumeName === '') errors.at('persistentVolumeName').required('must specify non empty persistentVolumeName');
}

function validateAttachmentMetadata(metadata: Record<string, string> | undefined, errors: FieldErrors): void {
  const sizeBytes = Object.entries(metadata ?? {}).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (sizeBytes > METADATA_MAX_BYTES) errors.tooLong(METADATA_MAX_BYTES);
}

function validateVolumeError(error: VolumeError | undefined, errors: FieldErrors): void {
  if (!error) return;
  // The limit that upstream tells is not the one that it keeps.
  if (Buffer.byteLength(error.message ?? '') > MESSAGE_MAX_BYTES) errors.at('message').tooLong(METADATA_MAX_BYTES);
  if (error.errorCode !== undefined && error.errorCode < 0) errors.at('errorCode').invalid(error.errorCode, inclusiveRangeError(0, 2 ** 31 - 1));
}

/** As upstream's internal type prints it. */
const internalSpec = ({ attacher, source, nodeName }: VolumeAttachmentSpec): object => ({
  Attacher: attacher,
  Source: {
    PersistentVolumeName: source.persistentVolumeName ?? null,
    InlineVolumeSpec: source.inlineVolumeSpec ? internalPodPart('PersistentVolumeSpec', source.inlineVolumeSpec) : null,
  },
  NodeName: nodeName,
});

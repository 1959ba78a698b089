import type { FieldErrors } from '../../../api/field-errors.ts';
import { subdomainName } from '../../../api/names.ts';
import { parseQuantity, quantityAt, quantitySign } from '../../../api/quantity.ts';
import type { PersistentVolumeSpec } from '../../facts/types/core-v1.ts';
import { hasInvalidNodeAffinityValues, validateNodeSelector } from '../pod/affinity.ts';
import { validateVolumeSources } from './sources.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const VOLUME_MODES = ['Block', 'Filesystem'];
const NOT_INLINE = 'may not be specified in the context of inline volumes';

export interface VolumeSpecRules {
  /** Within a VolumeAttachment, where only a CSI volume may stand. */
  isInline?: boolean;
  old?: PersistentVolumeSpec | undefined;
}

/** All of a volume's spec, in upstream's order (pkg/apis/core/validation ValidatePersistentVolumeSpec). */
export function validateVolumeSpec(spec: PersistentVolumeSpec, volumeName: string, errors: FieldErrors, { isInline = false, old }: VolumeSpecRules = {}): void {
  if (isInline) validateInlineFields(spec, errors);
  validateAccessModes(spec.accessModes ?? [], errors.at('accessModes'));
  if (!isInline) validateCapacity(spec.capacity, errors.at('capacity'));
  validateReclaimPolicy(spec.persistentVolumeReclaimPolicy, isInline, errors.at('persistentVolumeReclaimPolicy'));
  validateNodeAffinity(spec, isInline, old, errors.at('nodeAffinity'));
  validateVolumeSources(spec, volumeName, !isInline && spec.nodeAffinity !== undefined, errors);
  const isRoot = spec.hostPath !== undefined && /^\/+$/.test(spec.hostPath.path.replaceAll(/\/\.(?=\/|$)/g, '/'));
  if (isRoot && spec.persistentVolumeReclaimPolicy === 'Recycle')
    errors.at('persistentVolumeReclaimPolicy').forbidden("may not be 'recycle' for a hostPath mount of '/'");
  validateClasses(spec, isInline, errors);
}

function validateInlineFields({ claimRef, capacity, csi }: PersistentVolumeSpec, errors: FieldErrors): void {
  if (claimRef) errors.at('claimRef').forbidden(NOT_INLINE);
  if (Object.keys(capacity ?? {}).length > 0) errors.at('capacity').forbidden(NOT_INLINE);
  if (!csi) errors.at('csi').required('has to be specified in the context of inline volumes');
}

function validateAccessModes(modes: readonly string[], errors: FieldErrors): void {
  if (modes.length === 0) errors.required();
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.notSupported(mode, ACCESS_MODES);
  const isShared = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (isShared && modes.includes('ReadWriteOncePod')) errors.forbidden('may not use ReadWriteOncePod with other access modes');
}

function validateCapacity(capacity: Record<string, string> | undefined, errors: FieldErrors): void {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) errors.required();
  if (names.length !== 1 || names[0] !== 'storage') errors.notSupported(capacity ?? null, ['storage']);
  for (const name of names) {
    const text = capacity![name]!;
    const quantity = parseQuantity(text);
    const whole = quantityAt(quantity, 0);
    if (whole < 0n) errors.key(name).invalid(whole, 'must be a valid resource quantity');
    if (quantitySign(quantity) <= 0) errors.key(name).invalid(text, 'must be greater than zero');
  }
}

function validateReclaimPolicy(policy: string | undefined, isInline: boolean, errors: FieldErrors): void {
  if (!policy) return;
  if (!isInline && !RECLAIM_POLICIES.includes(policy)) errors.notSupported(policy, RECLAIM_POLICIES);
  if (isInline && policy !== 'Retain') errors.forbidden('may only be Retain in the context of inline volumes');
}

function validateNodeAffinity({ nodeAffinity }: PersistentVolumeSpec, isInline: boolean, old: PersistentVolumeSpec | undefined, errors: FieldErrors): void {
  if (!nodeAffinity) return;
  if (isInline) return errors.forbidden(NOT_INLINE);
  if (!nodeAffinity.required) return errors.at('required').required('must specify required node constraints');
  const former = old?.nodeAffinity?.required;
  const allowsInvalidValues =
    former !== undefined && hasInvalidNodeAffinityValues({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: former } });
  validateNodeSelector(nodeAffinity.required, errors.at('required'), allowsInvalidValues);
}

function validateClasses(spec: PersistentVolumeSpec, isInline: boolean, errors: FieldErrors): void {
  const { storageClassName, volumeMode, volumeAttributesClassName } = spec;
  if (storageClassName && isInline) errors.at('storageClassName').forbidden(NOT_INLINE);
  else if (storageClassName) validateName(storageClassName, errors.at('storageClassName'));
  if (volumeMode !== undefined) {
    if (!isInline && !VOLUME_MODES.includes(volumeMode)) errors.at('volumeMode').notSupported(volumeMode, VOLUME_MODES);
    if (isInline && volumeMode !== 'Filesystem')
      errors.at('volumeMode').forbidden('may not specify volumeMode other than Filesystem in the context of inline volumes');
  }
  // Upstream's attachments ask for no look at the class.
  if (volumeAttributesClassName === undefined || isInline) return;
  if (volumeAttributesClassName === '') errors.at('volumeAttributesClassName').required('an empty string is disallowed');
  else validateName(volumeAttributesClassName, errors.at('volumeAttributesClassName'));
  if (!spec.csi) errors.at('csi').required('has to be specified when using volumeAttributesClassName');
}

function validateName(name: string, errors: FieldErrors): void {
  for (const error of subdomainName(name, false)) errors.invalid(name, error);
}

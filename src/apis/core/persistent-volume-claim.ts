import type { KindSettings, Write } from '../../registry/write.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { compareQuantities, parseQuantity, quantityAt } from '../../api/quantity.ts';
import { defineResource } from '../define.ts';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from '../facts/types/core-v1.ts';
import { isFeatureOn } from '../features.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateVolumeClaimSpec } from '../validation/claim-spec.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { validateOwnMetadata } from '../validation/own-metadata.ts';
import { isNativeResource, isWholeNumber, validateResourceQuantity } from '../validation/resource-names.ts';
import { ATTRIBUTES_FIXED } from './persistent-volume.ts';
import { STORAGE_CLASS_ANNOTATION, accessModesText, phaseOf, storageClassOf } from './persistent-volume/cells.ts';
import { internalPodPart } from './pod/internal-form.ts';
import { roundToThousandths } from './pod/resource-lists.ts';
import { internalDiff } from './pod/internal-diff.ts';

const STORAGE = 'storage';
const BOUND = 'Bound';
const GATED: GatedFields = [['VolumeAttributesClass', ['spec.volumeAttributesClassName']]];
/** Each for itself. */
const GATED_STATUS: readonly GatedFields[] = ['currentVolumeAttributesClassName', 'modifyVolumeStatus'].map((field) => [
  ['VolumeAttributesClass', [`status.${field}`]],
]);
const RESIZE_STATUSES = ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending'];

/** A pod's wish for storage, which a volume fulfils. */
export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>('v1/persistentvolumeclaims', {
  validatesFinalizerNames: true,
  // A new claim is stored without a phase.
  storage: { defaultsOnRead: true },
  default({ spec, status }) {
    status.phase ??= 'Pending';
    spec.volumeMode ??= 'Filesystem';
    for (const list of [spec.resources.limits, spec.resources.requests, status.capacity, status.allocatedResources]) roundToThousandths(list);
  },
  prepareForCreate({ object: claim, settings }) {
    dropGatedFields(GATED, claim, undefined, settings);
    settleDataSources(claim.spec, undefined, settings);
  },
  prepareForUpdate({ object: claim, old, settings }) {
    dropGatedFields(GATED, claim, old, settings);
    settleDataSources(claim.spec, old.spec, settings);
  },

  validate: ({ object: { spec } }, errors) => validateVolumeClaimSpec(spec, errors.at('spec')),
  validateUpdate({ object: claim, old, settings }, errors) {
    validateOwnMetadata(claim.metadata, true, errors);
    validateVolumeClaimSpec(claim.spec, errors.at('spec'), {
      allowInvalidSelector: hasInvalidSelector(old.spec),
      allowInvalidApiGroup: namesApiGroup(old.spec),
    });
    validateSpecKept(claim, old, errors);
    validateSize(claim, old, errors.at('spec', 'resources', 'requests', STORAGE));
    validateUnchanged(claim.spec.volumeMode, old.spec.volumeMode, errors.at('volumeMode'));
    validateAttributesClass(claim, old, settings, errors.at('spec', 'volumeAttributesClassName'));
  },
  warnings: claimWarnings,

  subresources: {
    status: {
      update: {
        prepareForUpdate({ object: claim, old, settings }) {
          for (const gated of GATED_STATUS) dropGatedFields(gated, claim, old, settings);
        },
        validateUpdate({ object: { metadata, spec, status } }, errors) {
          validateFinalizerNames(metadata, errors);
          if ((spec.accessModes ?? []).length === 0) errors.at('Spec', 'accessModes').required();
          validateStatus(status, errors.at('status'));
        },
      },
    },
  },

  cells: {
    Status: phaseOf,
    Volume: ({ spec }) => spec.volumeName ?? '',
    Capacity: ({ spec, status }) => (spec.volumeName ? (status.capacity?.[STORAGE] ?? '0') : ''),
    'Access Modes': ({ spec, status }) => (spec.volumeName ? accessModesText(status.accessModes) : ''),
    StorageClass: storageClassOf,
    VolumeAttributesClass: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
    VolumeMode: ({ spec }) => spec.volumeMode ?? '<unset>',
  },
});

function hasInvalidSelector({ selector }: PersistentVolumeClaimSpec): boolean {
  const errors = new FieldErrors();
  validateLabelSelector(selector, errors);
  return !errors.isEmpty;
}

const namesApiGroup = ({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec): boolean =>
  dataSource?.apiGroup !== undefined || dataSourceRef?.apiGroup !== undefined;

/**
 * What the volume is filled from stands in two fields, an old one for claims and snapshots, a new one for anything: one is copied from the other
 * (KEP-1495).
 */
function settleDataSources(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec | undefined, settings: KindSettings): void {
  if (!isFeatureOn(settings, 'CrossNamespaceVolumeDataSource') && spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (!hadSource && !spec.dataSourceRef && !isClassicSource(spec)) delete spec.dataSource;
  mirrorDataSources(spec);
}

const isClassicSource = ({ dataSource }: PersistentVolumeClaimSpec): boolean =>
  (dataSource?.kind === 'PersistentVolumeClaim' && !dataSource.apiGroup) ||
  (dataSource?.kind === 'VolumeSnapshot' && dataSource.apiGroup === 'snapshot.storage.k8s.io');

function mirrorDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef;
    spec.dataSource = local;
  }
}

/** A bound claim may ask for more, or for another class of attributes; all else stays, but for what the binder fills in once. */
function validateSpecKept(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors): void {
  const before = { ...old.spec };
  const after = { ...claim.spec, resources: { ...claim.spec.resources } };
  mirrorDataSources(before);
  if (!before.volumeName && after.volumeName) before.volumeName = after.volumeName;
  settleStorageClass(claim, old, after, errors.at('metadata', 'annotations', STORAGE_CLASS_ANNOTATION));
  if (claim.status.phase === BOUND) {
    const size = old.spec.resources.requests?.[STORAGE];
    if (after.resources.requests) after.resources.requests = { ...after.resources.requests, [STORAGE]: size ?? '0' };
    delete after.volumeAttributesClassName;
    if (before.volumeAttributesClassName !== undefined) after.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (isSameSpec(before, after)) return;
  const diff = internalDiff(before, after, (value) => internalPodPart('PersistentVolumeClaimSpec', value));
  errors.at('spec').forbidden(`spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`);
}

/** The class may move from the annotation into the field, or be filled in where there was none. `after` is made to look unchanged then. */
function settleStorageClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, after: PersistentVolumeClaimSpec, errors: FieldErrors): void {
  const [annotated, wasAnnotated] = [claim, old].map(({ metadata }) => metadata.annotations?.[STORAGE_CLASS_ANNOTATION]);
  const named = claim.spec.storageClassName;
  const isFilledIn = named !== undefined && old.spec.storageClassName === undefined;
  const isMoved = isFilledIn && named === wasAnnotated && (annotated === undefined || annotated === wasAnnotated);
  if (!isMoved && (annotated ?? '') !== (wasAnnotated ?? '')) errors.invalid(annotated ?? '', 'field is immutable');
  if (isMoved || (isFilledIn && (wasAnnotated === undefined || named === wasAnnotated))) delete after.storageClassName;
}

function isSameSpec(before: PersistentVolumeClaimSpec, after: PersistentVolumeClaimSpec): boolean {
  if (!equalJson({ ...before, resources: undefined }, { ...after, resources: undefined })) return false;
  return isSameList(before.resources.requests, after.resources.requests) && isSameList(before.resources.limits, after.resources.limits);
}

/** `1Gi` is `1024Mi`. */
function isSameList(before: Record<string, string> = {}, after: Record<string, string> = {}): boolean {
  const names = Object.keys(before);
  return names.length === Object.keys(after).length && names.every((name) => Object.hasOwn(after, name) && compare(before[name], after[name]) === 0);
}

const compare = (a = '0', b = '0'): number => compareQuantities(parseQuantity(a), parseQuantity(b));

/** A wish that could not be fulfilled may be taken back, but no volume shrinks (KEP-1790). */
function validateSize({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim, errors: FieldErrors): void {
  const size = spec.resources.requests?.[STORAGE];
  const isLess = compare(size, old.spec.resources.requests?.[STORAGE]) < 0;
  if (isLess && compare(size, old.status.capacity?.[STORAGE]) <= 0) errors.forbidden('field can not be less than status.capacity');
}

function validateAttributesClass({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim, settings: KindSettings, errors: FieldErrors): void {
  const name = spec.volumeAttributesClassName;
  if (name === old.spec.volumeAttributesClassName) return;
  if (!isFeatureOn(settings, 'VolumeAttributesClass')) errors.forbidden(ATTRIBUTES_FIXED);
  if (old.status.currentVolumeAttributesClassName === undefined || name) return;
  errors.forbidden(`update to ${name === undefined ? 'nil' : 'empty string'} is forbidden when status.currentVolumeAttributesClassName is not nil`);
}

function validateStatus({ capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} }: PersistentVolumeClaimStatus, errors: FieldErrors): void {
  for (const [name, quantity] of Object.entries(capacity)) validateAmount(quantity, errors.at('capacity').key(name));
  for (const [name, status] of Object.entries(allocatedResourceStatuses)) {
    validateResourceKey(name, errors.at('allocatedResourceStatuses'));
    if (!RESIZE_STATUSES.includes(status)) errors.at('allocatedResourceStatuses').notSupported(name, RESIZE_STATUSES);
  }
  for (const [name, quantity] of Object.entries(allocatedResources)) {
    const at = errors.at('allocatedResources');
    if (!validateResourceKey(name, at)) continue;
    if (validateAmount(quantity, at.key(name))) validateResourceQuantity(STORAGE, quantity, at.key(name));
  }
}

function validateAmount(text: string, errors: FieldErrors): boolean {
  const whole = quantityAt(parseQuantity(text), 0);
  if (whole < 0n) errors.invalid(whole, 'must be a valid resource quantity');
  return whole >= 0n;
}

/** Of Kubernetes' own resources a claim has only storage. */
function validateResourceKey(name: string, errors: FieldErrors): boolean {
  const problems = qualifiedNameErrors(name);
  for (const problem of problems) errors.invalid(name, problem);
  if (problems.length > 0) return false;
  const isKnown = !isNativeResource(name) || name === STORAGE;
  if (!isKnown) errors.notSupportedString(name, [STORAGE]);
  return isKnown;
}

function claimWarnings({ object: { metadata, spec } }: Write<PersistentVolumeClaim>): string[] {
  const warnings: string[] = [];
  if (metadata.annotations?.[STORAGE_CLASS_ANNOTATION] !== undefined)
    warnings.push(`metadata.annotations[${STORAGE_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  for (const list of ['requests', 'limits'] as const) {
    const size = spec.resources[list]?.[STORAGE];
    if (size !== undefined && !isWholeNumber(size))
      warnings.push(`spec.resources.${list}[${STORAGE}]: fractional byte value ${JSON.stringify(size)} is invalid, must be an integer`);
  }
  return warnings;
}

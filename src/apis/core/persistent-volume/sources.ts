import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, labelName } from '../../../api/names.ts';
import type {
  CSIPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from '../../facts/types/core-v1.ts';
import { validateNoBacksteps } from '../../validation/local-path.ts';
import {
  validateAwsDisk,
  validateGceDisk,
  requireFields,
  validateAzureDisk,
  validateCsiDriverName,
  validateFc,
  validateFlexOptions,
  validateFlocker,
  validateHostPath,
  validateIscsi,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from '../pod/volume-sources.ts';

const PORTAL_TOO_LONG = 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
const PORTAL_MAX_LENGTH = 64;
const REFERENCE = ['name', 'namespace'] as const;

interface SourceRule<K extends keyof PersistentVolumeSource> {
  /** Where errors stand, where that is not the field's name; and where a second source is told of. */
  path?: string;
  secondPath?: string;
  /** Whether this source may stand beside others without being told of itself. */
  isNeverSecond?: boolean;
  validate(source: NonNullable<PersistentVolumeSource[K]>, errors: FieldErrors, volumeName: string): void;
}

/** Every source a volume can have, in the order of upstream's checks. */
const SOURCES: { [K in keyof Required<PersistentVolumeSource>]: SourceRule<K> } = {
  hostPath: { validate: validateHostPath },
  gcePersistentDisk: {
    path: 'persistentDisk',
    secondPath: 'gcePersistentDisk',
    validate: validateGceDisk,
  },
  awsElasticBlockStore: { validate: validateAwsDisk },
  glusterfs: { validate: validateGlusterfs },
  flocker: { validate: validateFlocker },
  nfs: { validate: validateNfs },
  rbd: { validate: (rbd, errors) => requireFields(rbd, ['monitors', 'image'], errors) },
  quobyte: { validate: validateQuobyte },
  cephfs: { secondPath: 'cephFS', validate: (cephfs, errors) => requireFields(cephfs, ['monitors'], errors) },
  iscsi: { validate: validateIscsiVolume },
  cinder: {
    validate(cinder, errors) {
      requireFields(cinder, ['volumeID'], errors);
      if (cinder.secretRef) requireFields(cinder.secretRef, REFERENCE, errors.at('secretRef'));
    },
  },
  fc: { validate: validateFc },
  flexVolume: {
    isNeverSecond: true,
    validate(flex, errors) {
      requireFields(flex, ['driver'], errors);
      validateFlexOptions(flex.options, errors);
    },
  },
  azureFile: {
    validate(share, errors) {
      requireFields(share, ['secretName', 'shareName'], errors);
      if (share.secretNamespace === '') errors.at('secretNamespace').required();
    },
  },
  vsphereVolume: { validate: (disk, errors) => requireFields(disk, ['volumePath'], errors) },
  photonPersistentDisk: { validate: (disk, errors) => requireFields(disk, ['pdID'], errors) },
  portworxVolume: { validate: (volume, errors) => requireFields(volume, ['volumeID'], errors) },
  azureDisk: { validate: validateAzureDisk },
  scaleIO: { validate: (volume, errors) => requireFields(volume, ['gateway', 'system', 'volumeName'], errors) },
  local: {
    validate({ path }, errors) {
      if (path === '') errors.at('path').required();
      else validateNoBacksteps(path, errors.at('path'));
    },
  },
  storageos: {
    validate(storageos, errors) {
      validateStorageOs(storageos, errors);
      if (storageos.secretRef) requireFields(storageos.secretRef, REFERENCE, errors.at('secretRef'));
    },
  },
  csi: { validate: validateCsi },
};

export const VOLUME_SOURCES = Object.keys(SOURCES) as (keyof PersistentVolumeSource)[];

/** Exactly one. `errors` stands at the spec. Of an inline volume, whose node affinity is refused, none counts (kubernetes: ValidatePersistentVolumeSpec). */
export function validateVolumeSources(spec: PersistentVolumeSpec, volumeName: string, hasNodeAffinity: boolean, errors: FieldErrors): void {
  let hasOne = false;
  for (const name of VOLUME_SOURCES) {
    const source = spec[name];
    if (!source) continue;
    const { path = name, secondPath = path, isNeverSecond, validate } = SOURCES[name];
    if (hasOne && !isNeverSecond) errors.at(secondPath).forbidden('may not specify more than 1 volume type');
    else {
      hasOne = true;
      validate(source as never, errors.at(path), volumeName);
      if (name === 'local' && !hasNodeAffinity) errors.at('nodeAffinity').required('Local volume requires node affinity');
    }
  }
  if (!hasOne) errors.required('must specify a volume type');
}

function validateGlusterfs(volume: GlusterfsPersistentVolumeSource, errors: FieldErrors): void {
  requireFields(volume, ['endpoints', 'path'], errors);
  const { endpointsNamespace: namespace } = volume;
  if (namespace === undefined) return;
  const problems = namespace === '' ? ['if the endpointnamespace is set, it must be a valid namespace name'] : labelName(namespace, false);
  for (const problem of problems) errors.at('endpointsNamespace').invalid(namespace, problem);
}

function validateIscsiVolume(iscsi: ISCSIPersistentVolumeSource, errors: FieldErrors, volumeName: string): void {
  const isTooLong = iscsi.initiatorName !== undefined && Buffer.byteLength(`${volumeName}:${iscsi.targetPortal}`) > PORTAL_MAX_LENGTH;
  if (isTooLong) errors.at('targetportal').invalid(iscsi.targetPortal, PORTAL_TOO_LONG);
  validateIscsi(iscsi, errors, 'must be valid format');
  if (iscsi.secretRef && !iscsi.secretRef.name) errors.at('secretRef', 'name').required();
}

function validateCsi(csi: CSIPersistentVolumeSource, errors: FieldErrors): void {
  validateCsiDriverName(csi.driver, errors.at('driver'));
  requireFields(csi, ['volumeHandle'], errors);
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const) {
    const reference = csi[field];
    if (reference) validateSecretReference(reference, errors.at(field));
  }
}

function validateSecretReference({ name, namespace }: SecretReference, errors: FieldErrors): void {
  if (name) for (const error of dns1123SubdomainErrors(name)) errors.at('name').invalid(name, error);
  else errors.at('name').required();
  if (namespace) for (const error of dns1123LabelErrors(namespace)) errors.at('namespace').invalid(namespace, error);
  else errors.at('namespace').required();
}

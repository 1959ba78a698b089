import type { EmptyPaths } from '../../../schema/empty-paths.ts';
import type { ObjectMeta } from '../../../api/api-object.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { quote } from '../../../util/go-quote.ts';
import { dns1123LabelErrors, subdomainName } from '../../../api/names.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { ConfigMapVolumeSource, EphemeralVolumeSource, ImageVolumeSource, SecretVolumeSource, Volume, VolumeSource } from '../../facts/types/core-v1.ts';
import { validateVolumeClaimSpec } from '../../validation/claim-spec.ts';
import { validateTemplateMetadata } from '../../validation/template-metadata.ts';
import { validateDownwardApiVolume } from './downward-api.ts';
import { validatePullPolicy } from './pull-policy.ts';
import { validateProjectedVolume } from './projected-volume.ts';
import type { PodRules } from './rules.ts';
import {
  validateAwsDisk,
  validateGceDisk,
  requireFields,
  validateAzureDisk,
  validateCsiDriverName,
  validateFc,
  validateFileMode,
  validateFlexOptions,
  validateFlocker,
  validateGitRepo,
  validateHostPath,
  validateIscsi,
  validateKeyToPath,
  validateNfs,
  validateQuobyte,
  validateStorageOs,
} from './volume-sources.ts';

/** One kind of volume. Upstream's paths differ from the field's name in a few places. */
interface SourceRule<K extends keyof VolumeSource> {
  validate(source: NonNullable<VolumeSource[K]>, errors: FieldErrors, rules: PodRules, sentEmpty: EmptyPaths): void;
  /** Where errors within the source are reported. */
  path?: string;
  /** Where it is reported that another source is there already. */
  conflictPath?: string;
}

type SourceRules = { [K in Exclude<keyof VolumeSource, 'emptyDir'>]-?: SourceRule<K> };

const required =
  <T extends object>(...fields: (keyof T & string)[]) =>
  (source: T, errors: FieldErrors): void =>
    requireFields(source, fields, errors);

/** In the order in which they are checked. */
const SOURCES: SourceRules = {
  hostPath: { validate: validateHostPath },
  gitRepo: { validate: validateGitRepo },
  gcePersistentDisk: {
    path: 'persistentDisk',
    validate: validateGceDisk,
  },
  awsElasticBlockStore: { validate: validateAwsDisk },
  secret: { validate: validateSecretVolume },
  nfs: { validate: validateNfs },
  iscsi: { validate: (iscsi, errors) => validateIscsi(iscsi, errors) },
  glusterfs: { validate: required('endpoints', 'path') },
  flocker: { validate: validateFlocker },
  persistentVolumeClaim: { validate: required('claimName') },
  rbd: { validate: required('monitors', 'image') },
  cinder: {
    validate(cinder, errors) {
      requireFields(cinder, ['volumeID'], errors);
      if (cinder.secretRef) requireFields(cinder.secretRef, ['name'], errors.at('secretRef'));
    },
  },
  cephfs: { conflictPath: 'cephFS', validate: required('monitors') },
  quobyte: { validate: validateQuobyte },
  downwardAPI: { conflictPath: 'downwarAPI', validate: validateDownwardApiVolume },
  fc: { validate: validateFc },
  flexVolume: {
    validate(flex, errors) {
      requireFields(flex, ['driver'], errors);
      validateFlexOptions(flex.options, errors);
    },
  },
  configMap: { validate: validateConfigMapVolume },
  azureFile: { validate: required('secretName', 'shareName') },
  vsphereVolume: { validate: required('volumePath') },
  photonPersistentDisk: { validate: required('pdID') },
  portworxVolume: { validate: required('volumeID') },
  azureDisk: { validate: validateAzureDisk },
  storageos: {
    validate(storageos, errors) {
      validateStorageOs(storageos, errors);
      if (storageos.secretRef) requireFields(storageos.secretRef, ['name'], errors.at('secretRef'));
    },
  },
  projected: { validate: validateProjectedVolume },
  scaleIO: { validate: required('gateway', 'system', 'volumeName') },
  csi: {
    validate(csi, errors) {
      validateCsiDriverName(csi.driver, errors.at('driver'));
      if (!csi.nodePublishSecretRef) return;
      const { name = '' } = csi.nodePublishSecretRef;
      if (name === '') errors.at('nodePublishSecretRef', 'name').required();
      else for (const error of subdomainName(name, false)) errors.at('name').invalid(name, error);
    },
  },
  ephemeral: { validate: validateEphemeralVolume },
  image: { validate: validateImageVolume },
};

const SOURCE_NAMES = Object.keys(SOURCES) as (keyof SourceRules)[];

/** The volumes that containers may mount, by name: those without faults of their own. */
export type KnownVolumes = ReadonlyMap<string, VolumeSource>;

/** `metadata` is a pod's own; a template's pods have names that are not known yet. */
export function validateVolumes(
  volumes: readonly Volume[],
  metadata: ObjectMeta | undefined,
  errors: FieldErrors,
  rules: PodRules,
  sentEmpty: EmptyPaths,
): KnownVolumes {
  const podName = metadata?.name ?? '';
  const createdClaims = new Set(podName === '' ? [] : volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`));
  const check = (volume: Volume, index: number, known: Map<string, VolumeSource>): void => {
    const at = errors.index(index);
    const before = errors.list.length;
    validateSource(volume, podName, at, rules, sentEmpty.at(index));
    if (volume.name === '') at.at('name').required();
    else for (const error of dns1123LabelErrors(volume.name)) at.at('name').invalid(volume.name, error);
    if (known.has(volume.name)) at.at('name').duplicate(volume.name);
    if (errors.list.length === before) known.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && createdClaims.has(claimName))
      at.at('persistentVolumeClaim', 'claimName').invalid(claimName, 'must not reference a PVC that gets created for an ephemeral volume');
  };
  return checkEach(errors, 'volumes', volumes, check, () => new Map<string, VolumeSource>());
}

function validateSource(volume: Volume, podName: string, errors: FieldErrors, rules: PodRules, sentEmpty: EmptyPaths): void {
  let found = 0;
  if (volume.emptyDir) {
    found++;
    if (volume.emptyDir.sizeLimit?.startsWith('-')) errors.at('emptyDir', 'sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
  }
  for (const name of sourcesIn(volume)) {
    const { validate, path = name, conflictPath = name } = SOURCES[name] as SourceRule<typeof name>;
    if (found > 0) errors.at(conflictPath).forbidden('may not specify more than 1 volume type');
    else {
      validate(volume[name] as never, errors.at(path), rules, sentEmpty.at(name));
      if (name === 'ephemeral') validateClaimName(volume.name, podName, errors.at('name'));
    }
    found++;
    if (name === 'iscsi') validatePortalLength(volume, errors.at('name'));
  }
  if (found === 0) errors.required('must specify a volume type');
}

/** The sources that a volume has, in the order in which they are checked. Most have one, which need not be looked for among all that there are. */
function sourcesIn(volume: Volume): readonly (keyof SourceRules)[] {
  let only: keyof SourceRules | undefined;
  for (const field in volume) {
    if (volume[field as keyof Volume] === undefined || !Object.hasOwn(SOURCES, field)) continue;
    if (only !== undefined) return SOURCE_NAMES.filter((name) => volume[name] !== undefined);
    only = field as keyof SourceRules;
  }
  return only === undefined ? [] : [only];
}

/** Both make up a name on the node. */
function validatePortalLength({ name, iscsi }: Volume, errors: FieldErrors): void {
  if (iscsi!.initiatorName === undefined || Buffer.byteLength(`${name}:${iscsi!.targetPortal}`) <= 64) return;
  errors.invalid(name, 'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.');
}

function validateSecretVolume(secret: SecretVolumeSource, errors: FieldErrors): void {
  requireFields(secret, ['secretName'], errors);
  validateFiles(secret, errors);
}

function validateConfigMapVolume(configMap: ConfigMapVolumeSource, errors: FieldErrors): void {
  requireFields(configMap, ['name'], errors);
  validateFiles(configMap, errors);
}

function validateFiles({ defaultMode, items = [] }: Pick<SecretVolumeSource, 'defaultMode' | 'items'>, errors: FieldErrors): void {
  validateFileMode(defaultMode, errors.at('defaultMode'));
  checkEach(errors, 'items', items, (item, index) => validateKeyToPath(item, errors.at('items').index(index)));
}

function validateEphemeralVolume({ volumeClaimTemplate }: EphemeralVolumeSource, errors: FieldErrors, _rules: PodRules, sentEmpty: EmptyPaths): void {
  const at = errors.at('volumeClaimTemplate');
  if (!volumeClaimTemplate) return at.required();
  validateTemplateMetadata(volumeClaimTemplate.metadata, sentEmpty.at('volumeClaimTemplate', 'metadata'), at.at('metadata'));
  validateVolumeClaimSpec(volumeClaimTemplate.spec, at.at('spec'));
}

/** The claim is named after the pod and the volume. */
function validateClaimName(volumeName: string, podName: string, errors: FieldErrors): void {
  if (podName === '' || volumeName === '') return;
  const claimName = `${podName}-${volumeName}`;
  for (const error of subdomainName(claimName, false)) errors.invalid(volumeName, `PVC name ${quote(claimName)}: ${error}`);
}

function validateImageVolume({ reference = '', pullPolicy }: ImageVolumeSource, errors: FieldErrors, { isPod }: PodRules): void {
  if (isPod && reference === '') errors.at('reference').required();
  validatePullPolicy(pullPolicy, errors.at('pullPolicy'));
}

import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../../../api/names.ts';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  HostPathVolumeSource,
  ISCSIVolumeSource,
  KeyToPath,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from '../../facts/types/core-v1.ts';
import { inclusiveRangeError } from '../../validation/ports.ts';
import { validateDescendingPath, validateNoBacksteps, validateUnreservedPath } from '../../validation/local-path.ts';

/** Rules for single sources of volumes, in the order of upstream's checks. Those of persistent volumes are mostly the same. */
const HOST_PATH_TYPES = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
const FILE_MODE_WRONG = 'must be a number between 0 and 0777 (octal), both inclusive';
const MAX_FILE_MODE = 0o777;

export function requireFields<T extends object>(source: T, fields: readonly (keyof T & string)[], errors: FieldErrors): void {
  for (const field of fields) {
    const value = source[field];
    if (!value || (Array.isArray(value) && value.length === 0)) errors.at(field).required();
  }
}

export function validateFileMode(mode: number | undefined, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_FILE_MODE)) errors.invalid(mode, FILE_MODE_WRONG);
}

export function validateHostPath({ path, type }: HostPathVolumeSource, errors: FieldErrors): void {
  if (path === '') return errors.at('path').required();
  validateNoBacksteps(path, errors.at('path'));
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) errors.at('type').notSupported(type, HOST_PATH_TYPES);
}

export function validateGitRepo(repo: GitRepoVolumeSource, errors: FieldErrors): void {
  requireFields(repo, ['repository'], errors);
  validateDescendingPath(repo.directory ?? '', errors.at('directory'));
}

/** A disk's partition; the message names 1 although 0, which means none, is fine. */
function validatePartition(partition: number | undefined, errors: FieldErrors): void {
  if (partition !== undefined && (partition < 0 || partition > 255)) errors.invalid(partition, inclusiveRangeError(1, 255));
}

export function validateGceDisk(disk: GCEPersistentDiskVolumeSource, errors: FieldErrors): void {
  requireFields(disk, ['pdName'], errors);
  validatePartition(disk.partition, errors.at('partition'));
}

export function validateAwsDisk(disk: AWSElasticBlockStoreVolumeSource, errors: FieldErrors): void {
  requireFields(disk, ['volumeID'], errors);
  validatePartition(disk.partition, errors.at('partition'));
}

export function validateNfs(nfs: NFSVolumeSource, errors: FieldErrors): void {
  requireFields(nfs, ['server', 'path'], errors);
  if (!nfs.path.startsWith('/')) errors.at('path').invalid(nfs.path, 'must be an absolute path');
}

export function validateFc({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, errors: FieldErrors): void {
  if (targetWWNs.length === 0 && wwids.length === 0) errors.at('targetWWNs').required('must specify either targetWWNs or wwids, but not both');
  if (targetWWNs.length > 0 && wwids.length > 0) errors.at('targetWWNs').invalid(targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.at('lun').required('lun is required if targetWWNs is specified');
  else validateLun(lun, errors.at('lun'));
}

function validateLun(lun: number, errors: FieldErrors): void {
  if (lun < 0 || lun > 255) errors.invalid(lun, inclusiveRangeError(0, 255));
}

/** `wrongPrefix` is what a name is told that follows none of the three schemes (RFC 3720, 3980); persistent volumes word it otherwise. */
export function validateIscsi(
  iscsi: Omit<ISCSIVolumeSource, 'secretRef'> & { secretRef?: object },
  errors: FieldErrors,
  wrongPrefix = 'must be valid format starting with iqn, eui, or naa',
): void {
  requireFields(iscsi, ['targetPortal', 'iqn'], errors);
  if (iscsi.iqn !== '') validateInitiator(iscsi.iqn, errors.at('iqn'), wrongPrefix);
  validateLun(iscsi.lun, errors.at('lun'));
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) errors.at('secretRef').required();
  if (iscsi.initiatorName !== undefined) validateInitiator(iscsi.initiatorName, errors.at('initiatorname'), wrongPrefix);
}

const INITIATOR_FORMS: Record<string, RegExp> = {
  iqn: /iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};
/** Far above what any initiator takes; keeps the expressions' work small. */
const INITIATOR_MAX_LENGTH = 4_096;

function validateInitiator(name: string, errors: FieldErrors, wrongPrefix: string): void {
  const form = INITIATOR_FORMS[name.slice(0, 3)];
  if (!form) errors.invalid(name, wrongPrefix);
  else if (name.length > INITIATOR_MAX_LENGTH || !form.test(name)) errors.invalid(name, 'must be valid format');
}

export function validateFlocker({ datasetName = '', datasetUUID = '' }: FlockerVolumeSource, errors: FieldErrors): void {
  if (datasetName === '' && datasetUUID === '') errors.required('one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '') errors.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName.includes('/')) errors.at('datasetName').invalid(datasetName, "must not contain '/'");
}

export function validateQuobyte(quobyte: QuobyteVolumeSource, errors: FieldErrors): void {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  if (quobyte.registry === '') errors.at('registry').required(pairs);
  else if ((quobyte.tenant ?? '').length >= 65) errors.at('tenant').required('must be a UUID and may not exceed a length of 64 characters');
  else for (const pair of quobyte.registry.split(',')) if (!isHostPort(pair)) errors.at('registry').invalid(quobyte.registry, pairs);
  requireFields(quobyte, ['volume'], errors);
}

/** Whether Go's net.SplitHostPort takes it. */
const isHostPort = (text: string): boolean => /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);

/** Options that Kubernetes passes itself may not be set. */
export function validateFlexOptions(options: Record<string, string> | undefined, errors: FieldErrors): void {
  for (const key of Object.keys(options ?? {})) {
    const namespace = `.${key.split('/', 1)[0]!.toLowerCase()}`;
    if (namespace.endsWith('.kubernetes.io') || namespace.endsWith('.k8s.io'))
      errors.at('options').key(key).invalid(key, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];

export function validateAzureDisk(disk: AzureDiskVolumeSource, errors: FieldErrors): void {
  requireFields(disk, ['diskName', 'diskURI'], errors);
  const { cachingMode, kind, diskURI } = disk;
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode)) errors.at('cachingMode').notSupported(cachingMode, CACHING_MODES);
  if (kind !== undefined && !DISK_KINDS.includes(kind)) errors.at('kind').notSupported(kind, DISK_KINDS);
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/'))
    errors.at('diskURI').notSupportedString(diskURI, ['/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}']);
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://'))
    errors.at('diskURI').notSupportedString(diskURI, ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd']);
}

export function validateStorageOs(source: Omit<StorageOSVolumeSource, 'secretRef'>, errors: FieldErrors): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  if (volumeName === '') errors.at('volumeName').required();
  else for (const error of dns1123LabelErrors(volumeName)) errors.at('volumeName').invalid(volumeName, error);
  if (volumeNamespace !== '') for (const error of dns1123LabelErrors(volumeNamespace)) errors.at('volumeNamespace').invalid(volumeNamespace, error);
}

const DRIVER_NAME_MAX_BYTES = 63;

export function validateCsiDriverName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  if (Buffer.byteLength(name) > DRIVER_NAME_MAX_BYTES) errors.tooLong(DRIVER_NAME_MAX_BYTES);
  for (const error of dns1123SubdomainErrors(name.toLowerCase())) errors.invalid(name, error);
}

/** What a key of a ConfigMap or Secret becomes in a volume. */
export function validateKeyToPath(item: KeyToPath, errors: FieldErrors): void {
  requireFields(item, ['key', 'path'], errors);
  validateUnreservedPath(item.path, errors.at('path'));
  validateFileMode(item.mode, errors.at('mode'));
}

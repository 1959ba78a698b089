import type {
  AzureDiskVolumeSource,
  DownwardAPIVolumeFile,
  PersistentVolumeClaimTemplate,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  Volume,
  VolumeProjection,
} from '../../facts/types/core-v1.ts';
import { defaultPullPolicy } from './image-reference.ts';
import { roundToThousandths } from './resource-lists.ts';

/** Files that the kubelet writes are readable by all and writable by their owner. */
const DEFAULT_FILE_MODE = 0o644;
const TOKEN_SECONDS = 60 * 60;

/** `hasImages`: the feature gate ImageVolume. */
export function defaultVolume(volume: Volume, hasImages = true): void {
  if (Object.keys(volume).length === 1 && Object.hasOwn(volume, 'name')) volume.emptyDir = {};
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.image && hasImages) volume.image.pullPolicy ??= defaultPullPolicy(volume.image.reference ?? '');
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected]) if (source) source.defaultMode ??= DEFAULT_FILE_MODE;
  defaultFiles(volume.downwardAPI?.items);
  for (const source of volume.projected?.sources ?? []) defaultProjection(source);
  if (volume.ephemeral?.volumeClaimTemplate) defaultClaimTemplate(volume.ephemeral.volumeClaimTemplate);
  if (volume.iscsi) volume.iscsi.iscsiInterface ??= 'default';
  if (volume.rbd) defaultRbd(volume.rbd);
  if (volume.azureDisk) defaultAzureDisk(volume.azureDisk);
  if (volume.scaleIO) defaultScaleIo(volume.scaleIO);
}

function defaultProjection(source: VolumeProjection): void {
  defaultFiles(source.downwardAPI?.items);
  if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
}

function defaultFiles(files: DownwardAPIVolumeFile[] | undefined): void {
  for (const { fieldRef } of files ?? []) if (fieldRef) fieldRef.apiVersion ??= 'v1';
}

function defaultClaimTemplate({ spec }: PersistentVolumeClaimTemplate): void {
  spec.volumeMode ??= 'Filesystem';
  roundToThousandths(spec.resources.limits);
  roundToThousandths(spec.resources.requests);
}

function defaultRbd(rbd: RBDVolumeSource): void {
  rbd.pool ??= 'rbd';
  rbd.user ??= 'admin';
  rbd.keyring ??= '/etc/ceph/keyring';
}

function defaultAzureDisk(disk: AzureDiskVolumeSource): void {
  disk.cachingMode ??= 'ReadWrite';
  disk.fsType ??= 'ext4';
  disk.readOnly ??= false;
  disk.kind ??= 'Shared';
}

function defaultScaleIo(volume: ScaleIOVolumeSource): void {
  volume.storageMode ??= 'ThinProvisioned';
  volume.fsType ??= 'xfs';
}

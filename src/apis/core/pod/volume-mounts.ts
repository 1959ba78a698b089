import type { FieldErrors } from '../../../api/field-errors.ts';
import type { VolumeMount } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';
import { validateDescendingPath } from '../../validation/local-path.ts';
import type { AnyContainer } from './containers-of.ts';
import type { KnownVolumes } from './volumes.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible'];

/** Faults of paths and propagation are reported at the list, not at the mount: upstream has no index there. */
export function validateVolumeMounts(container: AnyContainer, volumes: KnownVolumes, errors: FieldErrors): void {
  const devices = pathsByName(container.volumeDevices ?? [], 'devicePath');
  const devicePaths = new Set(devices.values());
  const mountPaths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = errors.index(index);
    const { name, mountPath } = mount;
    if (name === '') at.at('name').required();
    if (!volumes.has(name)) at.at('name').notFound(name);
    if (mountPath === '') at.at('mountPath').required();
    if (mountPaths.has(mountPath)) at.at('mountPath').invalid(mountPath, 'must be unique');
    mountPaths.add(mountPath);
    if (devices.has(name)) at.at('name').invalid(name, 'must not already exist in volumeDevices');
    if (devicePaths.has(mountPath)) at.at('mountPath').invalid(mountPath, 'must not already exist as a path in volumeDevices');
    validateSubPaths(mount, errors, at);
    validatePropagation(mount, container, errors.at('mountPropagation'));
    validateRecursiveReadOnly(mount, errors.at('recursiveReadOnly'));
  }
}

function validateSubPaths({ subPath = '', subPathExpr = '' }: VolumeMount, errors: FieldErrors, at: FieldErrors): void {
  if (subPath !== '') validateDescendingPath(subPath, errors.at('subPath'));
  if (subPathExpr === '') return;
  if (subPath !== '') at.at('subPathExpr').invalid(subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  validateDescendingPath(subPathExpr, errors.at('subPathExpr'));
}

function validatePropagation({ mountPropagation }: VolumeMount, { securityContext }: AnyContainer, errors: FieldErrors): void {
  validateOptionalChoice(mountPropagation, PROPAGATIONS, errors);
  if (mountPropagation === 'Bidirectional' && !securityContext?.privileged)
    errors.forbidden('Bidirectional mount propagation is available only to privileged containers');
}

function validateRecursiveReadOnly({ recursiveReadOnly, readOnly, mountPropagation }: VolumeMount, errors: FieldErrors): void {
  validateOptionalChoice(recursiveReadOnly, RECURSIVE_READ_ONLY, errors);
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') return;
  if (!readOnly) errors.forbidden('may only be specified when readOnly is true');
  if (mountPropagation !== undefined && mountPropagation !== 'None') errors.forbidden('may only be specified when mountPropagation is None or not specified');
}

export function validateVolumeDevices(container: AnyContainer, volumes: KnownVolumes, errors: FieldErrors): void {
  const mounts = pathsByName(container.volumeMounts ?? [], 'mountPath');
  const mountPaths = new Set(mounts.values());
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name, devicePath }] of (container.volumeDevices ?? []).entries()) {
    const at = errors.index(index);
    const volume = volumes.get(name);
    if (name === '') at.at('name').required();
    if (names.has(name)) at.at('name').invalid(name, 'must be unique');
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      at.at('name').invalid(name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    if (!volume) at.at('name').notFound(name);
    if (devicePath === '') at.at('devicePath').required();
    if (paths.has(devicePath)) at.at('devicePath').invalid(devicePath, 'must be unique');
    if (devicePath.split('/').includes('..')) at.at('devicePath').invalid(devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.has(name)) at.at('name').invalid(name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) at.at('devicePath').invalid(devicePath, 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  }
}

/** Of two entries with one name, the latter's path counts. */
const pathsByName = <K extends string>(entries: readonly ({ name: string } & Record<K, string>)[], path: K): Map<string, string> =>
  new Map(entries.map((entry) => [entry.name, entry[path]]));

import { storageClassOf } from '../apis/core/persistent-volume/cells.ts';
import type { PersistentVolumeClaim } from '../apis/facts/types/core-v1.ts';
import type { StorageClass } from '../apis/facts/types/storage-v1.ts';
import type { Informer } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type Quantity, compareQuantities, parseQuantity } from '../api/quantity.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';

/** A claim grows only where its class can do that (plugin/pkg/admission/storage/persistentvolume/resize). */
export function persistentVolumeClaimResize({ client }: PluginEnvironment): AdmissionPlugin {
  const classes = client.resource<StorageClass>('storage.k8s.io', 'storageclasses').informer;

  function validate(attributes: AdmissionAttributes): void {
    const claim = attributes.object as PersistentVolumeClaim;
    const old = attributes.oldObject as PersistentVolumeClaim;
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status.phase !== 'Bound') throw refusal(attributes, 'Only bound persistent volume claims can be expanded');
    if (mayGrow(claim, old, classes)) return;
    throw refusal(attributes, 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize');
  }
  return { name: 'PersistentVolumeClaimResize', operations: UPDATE, targets: ['persistentvolumeclaims'], validate };
}

const sizeOf = ({ spec }: PersistentVolumeClaim): Quantity => parseQuantity(spec.resources.requests?.storage ?? '0');

function mayGrow(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, classes: Informer<StorageClass>): boolean {
  const name = storageClassOf(claim);
  return name !== '' && name === storageClassOf(old) && (classes.get('', name)?.allowVolumeExpansion ?? false);
}

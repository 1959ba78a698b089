import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, CREATE } from './plugin.ts';

/** By resource; their controllers take them away. */
const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses', 'kubernetes.io/vac-protection'],
]);

/** Storage that something still uses is not deleted under it (plugin/pkg/admission/storage/storageobjectinuseprotection; KEP-498). */
export function storageObjectInUseProtection(): AdmissionPlugin {
  function mutate({ resource, object }: AdmissionAttributes): void {
    const { metadata } = object!;
    const finalizer = FINALIZERS.get(resource)!;
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  }
  const targets = ['persistentvolumes', 'persistentvolumeclaims', 'volumeattributesclasses.storage.k8s.io'];
  return { name: 'StorageObjectInUseProtection', operations: CREATE, targets, mutate };
}

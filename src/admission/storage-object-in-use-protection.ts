import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

/** By resource; their controllers take them away. */
const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses', 'kubernetes.io/vac-protection'],
]);

/** Storage that something still uses is not deleted under it (plugin/pkg/admission/storage/storageobjectinuseprotection; KEP-498). */
export const storageObjectInUseProtection = ({ isEnabled }: Pick<PluginEnvironment, 'isEnabled'>): AdmissionPlugin => ({
  name: 'StorageObjectInUseProtection',
  operations: CREATE,
  targets: ['persistentvolumes', 'persistentvolumeclaims', ...(isEnabled('VolumeAttributesClass') ? ['volumeattributesclasses.storage.k8s.io'] : [])],
  mutate({ resource, object }) {
    const { metadata } = object!;
    const finalizer = FINALIZERS.get(resource)!;
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  },
});

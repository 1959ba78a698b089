import { STORAGE_CLASS_ANNOTATION } from '../apis/core/persistent-volume/cells.ts';
import type { PersistentVolumeClaim } from '../apis/facts/types/core-v1.ts';
import { DEFAULT_ANNOTATIONS } from '../apis/storage/storage-class.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { defaultClass } from './default-class.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

/** A claim that asks for no class gets the default one; one that asks for the class "" gets none (plugin/pkg/admission/storage/storageclass/setdefault). */
export function defaultStorageClass({ client }: PluginEnvironment): AdmissionPlugin {
  const classes = client.resource('storage.k8s.io', 'storageclasses').informer;

  function mutate({ object }: AdmissionAttributes): void {
    const { metadata, spec } = object as PersistentVolumeClaim;
    if (spec.storageClassName !== undefined || metadata.annotations?.[STORAGE_CLASS_ANNOTATION] !== undefined) return;
    const found = defaultClass(classes, DEFAULT_ANNOTATIONS);
    if (found) spec.storageClassName = found.metadata.name!;
  }
  return { name: 'DefaultStorageClass', operations: CREATE, targets: ['persistentvolumeclaims'], mutate };
}

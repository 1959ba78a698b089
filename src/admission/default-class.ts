import { type AdmissionPlugin, type PluginEnvironment, CREATE } from './plugin.ts';
import type { ApiObject } from '../api/api-object.ts';
import { STORAGE_CLASS_ANNOTATION } from '../apis/core/persistent-volume/cells.ts';
import type { PersistentVolumeClaim } from '../apis/facts/types/core-v1.ts';
import type { Ingress } from '../apis/facts/types/networking-v1.ts';
import { DEFAULT_ANNOTATION } from '../apis/networking/ingress-class.ts';
import { DEFAULT_ANNOTATIONS } from '../apis/storage/storage-class.ts';
import type { Informer } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';

/** Of the classes that one of the annotations marks as the default, the newest; of equally new ones the first by name. */
export function defaultClass(classes: Informer, annotations: readonly string[]): ApiObject | undefined {
  return classes
    .list('')
    .filter(({ metadata }) => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'))
    .toSorted(newestFirst)[0];
}

function newestFirst(a: ApiObject, b: ApiObject): number {
  const [createdA, createdB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (createdA !== createdB) return createdA > createdB ? -1 : 1;
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}

/** How a class was named before there was a field for it. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An ingress that names no class gets the default one (plugin/pkg/admission/network/defaultingressclass). */
export function defaultIngressClass({ client }: PluginEnvironment): AdmissionPlugin {
  const classes = client.resource('networking.k8s.io', 'ingressclasses').informer;

  function mutate({ object }: AdmissionAttributes): void {
    const { metadata, spec } = object as Ingress;
    if (spec.ingressClassName !== undefined || metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const found = defaultClass(classes, [DEFAULT_ANNOTATION]);
    if (found) spec.ingressClassName = found.metadata.name!;
  }
  return { name: 'DefaultIngressClass', operations: CREATE, targets: ['ingresses.networking.k8s.io'], mutate };
}

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

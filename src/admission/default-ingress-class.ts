import type { Ingress } from '../apis/facts/types/networking-v1.ts';
import { DEFAULT_ANNOTATION } from '../apis/networking/ingress-class.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { defaultClass } from './default-class.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

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

import { isExtendedResource } from '../apis/validation/resource-names.ts';
import type { Pod, Toleration } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from './plugin.ts';

/** A pod that asks for an extended resource tolerates the nodes set apart for it (plugin/pkg/admission/extendedresourcetoleration). */
export const extendedResourceToleration: AdmissionPlugin = { name: 'ExtendedResourceToleration', operations: CREATE_OR_UPDATE, targets: ['pods'], mutate };

function mutate({ object }: AdmissionAttributes): void {
  const { spec } = object as Pod;
  const requested = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) => Object.keys(resources.requests ?? {}));
  for (const key of [...new Set(requested.filter(isExtendedResource))].toSorted()) {
    spec.tolerations = withToleration(spec.tolerations ?? [], { key, operator: 'Exists', effect: 'NoSchedule' });
  }
}

/** In the place of the one that it matches, or at the end (pkg/apis/core/helper AddOrUpdateTolerationInPod). */
function withToleration(tolerations: readonly Toleration[], added: Toleration): Toleration[] {
  const isSame = ({ key, operator, effect, value = '' }: Toleration): boolean =>
    key === added.key && operator === added.operator && effect === added.effect && value === '';
  return tolerations.some(isSame) ? tolerations.map((toleration) => (isSame(toleration) ? added : toleration)) : [...tolerations, added];
}

import type { Pod, Toleration } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from './plugin.ts';

/** A pod stays a while on a node that fails, unless it says otherwise (plugin/pkg/admission/defaulttolerationseconds). */
export function defaultTolerationSeconds({ options }: PluginEnvironment): AdmissionPlugin {
  const defaults: readonly (readonly [taint: string, seconds: number])[] = [
    ['node.kubernetes.io/not-ready', options.notReadyTolerationSeconds],
    ['node.kubernetes.io/unreachable', options.unreachableTolerationSeconds],
  ];

  function mutate({ object }: AdmissionAttributes): void {
    const { spec } = object as Pod;
    const given = spec.tolerations ?? [];
    const missing = defaults.filter(([taint]) => !given.some((toleration) => toleratesEviction(toleration, taint)));
    if (missing.length === 0) return;
    spec.tolerations = [...given, ...missing.map(([key, tolerationSeconds]) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }))];
  }
  return { name: 'DefaultTolerationSeconds', operations: CREATE_OR_UPDATE, targets: ['pods'], mutate };
}

/** An empty key or effect stands for all of them. */
const toleratesEviction = ({ key, effect }: Toleration, taint: string): boolean => (!key || key === taint) && (!effect || effect === 'NoExecute');

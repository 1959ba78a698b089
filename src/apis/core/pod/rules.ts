import { FieldErrors } from '../../../util/field-errors.ts';
import type { ObjectMeta } from '../../../util/api-object.ts';
import type { PodSpec } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { isDivisibleHugePages, isHugePages } from '../../validation/resource-names.ts';
import { validateUnreservedPath } from '../../validation/local-path.ts';
import { hasInvalidAffinityValues, hasInvalidNodeAffinityValues } from './affinity.ts';
import { isDeletionCost } from './annotations.ts';
import { containersOf, isSidecar } from './containers-of.ts';
import { hasHostSysctls } from './sysctls.ts';
import { hasInvalidMatchLabelKeys, hasInvalidSpreadSelectors } from './topology-spread.ts';

/**
 * What is let pass in a pod's spec. Everything is false for a new one; an old one that has what later versions forbid may keep it, so that it can be
 * updated at all (pkg/api/pod GetValidationOptionsFromPodSpecAndMeta). What features let pass, they let pass for all.
 */
export interface PodRules {
  /** A Pod itself, and not a template. */
  isPod: boolean;
  allowsInvalidDeletionCost: boolean;
  allowsIndivisibleHugePages: boolean;
  allowsInvalidAffinityValues: boolean;
  allowsInvalidNodeAffinityValues: boolean;
  allowsInvalidSpreadSelectors: boolean;
  /** matchLabelKeys are judged as before v1.34. */
  judgesLabelKeysAsBefore: boolean;
  allowsNonLocalTokenPath: boolean;
  allowsHostSysctls: boolean;
  allowsHostNetworkWithUserNamespace: boolean;
  allowsVolumeDevicesWithUserNamespace: boolean;
  allowsAnySelinuxChangePolicy: boolean;
  allowsTolerationComparison: boolean;
  allowsRestartOnInitResize: boolean;
}

const STRICT: PodRules = {
  isPod: false,
  allowsInvalidDeletionCost: false,
  allowsIndivisibleHugePages: false,
  allowsInvalidAffinityValues: false,
  allowsInvalidNodeAffinityValues: false,
  allowsInvalidSpreadSelectors: false,
  judgesLabelKeysAsBefore: false,
  allowsNonLocalTokenPath: false,
  allowsHostSysctls: false,
  allowsHostNetworkWithUserNamespace: false,
  allowsVolumeDevicesWithUserNamespace: false,
  allowsAnySelinuxChangePolicy: false,
  allowsTolerationComparison: false,
  allowsRestartOnInitResize: false,
};

const featureRules = (): Pick<PodRules, 'allowsHostNetworkWithUserNamespace' | 'allowsTolerationComparison'> => ({
  allowsHostNetworkWithUserNamespace: isFeatureOn('UserNamespacesHostNetworkSupport'),
  allowsTolerationComparison: isFeatureOn('TaintTolerationComparisonOperators'),
});

export function podRules(old: PodSpec | undefined, oldMetadata: ObjectMeta | undefined, isPod = false): PodRules {
  const features = featureRules();
  if (!old) return { ...STRICT, isPod, ...features };
  const hasUserNamespace = old.hostUsers === false;
  return {
    isPod,
    allowsInvalidDeletionCost: !isDeletionCost(oldMetadata?.annotations),
    allowsIndivisibleHugePages: hasIndivisibleHugePages(old),
    allowsInvalidAffinityValues: hasInvalidAffinityValues(old.affinity),
    allowsInvalidNodeAffinityValues: hasInvalidNodeAffinityValues(old.affinity),
    allowsInvalidSpreadSelectors: hasInvalidSpreadSelectors(old.topologySpreadConstraints),
    judgesLabelKeysAsBefore: hasInvalidMatchLabelKeys(old.topologySpreadConstraints),
    allowsNonLocalTokenPath: hasNonLocalTokenPath(old),
    allowsHostSysctls: hasHostSysctls(old),
    allowsHostNetworkWithUserNamespace: features.allowsHostNetworkWithUserNamespace || (hasUserNamespace && old.hostNetwork === true),
    allowsVolumeDevicesWithUserNamespace: hasUserNamespace && [...containersOf(old)].some(({ volumeDevices }) => volumeDevices !== undefined),
    allowsAnySelinuxChangePolicy: old.securityContext?.seLinuxChangePolicy !== undefined,
    allowsTolerationComparison: features.allowsTolerationComparison || (old.tolerations ?? []).some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
    allowsRestartOnInitResize: (old.initContainers ?? []).some(
      (container) => !isSidecar(container) && (container.resizePolicy ?? []).some(({ restartPolicy }) => restartPolicy === 'RestartContainer'),
    ),
  };
}

function hasIndivisibleHugePages(spec: PodSpec): boolean {
  const lists = [...[...containersOf(spec)].flatMap(({ resources }) => [resources.limits, resources.requests]), spec.overhead];
  return lists.some((list) => Object.entries(list ?? {}).some(([name, quantity]) => isHugePages(name) && !isDivisibleHugePages(name, quantity)));
}

function hasNonLocalTokenPath({ volumes = [] }: PodSpec): boolean {
  const errors = new FieldErrors();
  for (const { projected } of volumes) {
    for (const { serviceAccountToken } of projected?.sources ?? []) if (serviceAccountToken) validateUnreservedPath(serviceAccountToken.path, errors);
  }
  return !errors.isEmpty;
}

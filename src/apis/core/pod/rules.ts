import { FieldErrors } from '../../../api/field-errors.ts';
import type { ObjectMeta } from '../../../api/api-object.ts';
import type { PodSpec } from '../../facts/types/core-v1.ts';
import type { KindSettings } from '../../../registry/write.ts';
import { isFeatureOn } from '../../features.ts';
import { isDivisibleHugePages, isHugePages } from '../../validation/resource-names.ts';
import { validateUnreservedPath } from '../../validation/local-path.ts';
import { hasInvalidAffinityValues, hasInvalidNodeAffinityValues } from './affinity.ts';
import { isDeletionCost } from './annotations.ts';
import { containersOf, isSidecar } from './containers-of.ts';
import { usesRestartRules } from './gated-fields.ts';
import { canRestartAll } from './restart-policy.ts';
import { hasHostSysctls } from './sysctls.ts';
import { hasInvalidFormerLabelKeys, hasInvalidMatchLabelKeys, hasInvalidSpreadSelectors } from './topology-spread.ts';

/**
 * What is let pass in a pod's spec. Everything is false for a new one; an old one that has what later versions forbid may keep it, so that it can be
 * updated at all (pkg/api/pod GetValidationOptionsFromPodSpecAndMeta). What features let pass, they let pass for all.
 */
export interface PodRules {
  settings: KindSettings;
  /** A Pod itself, and not a template. */
  isPod: boolean;
  allowsInvalidDeletionCost: boolean;
  allowsIndivisibleHugePages: boolean;
  allowsInvalidAffinityValues: boolean;
  allowsInvalidNodeAffinityValues: boolean;
  allowsInvalidSpreadSelectors: boolean;
  /** matchLabelKeys are validated as before v1.34. */
  checksLabelKeysAsBefore: boolean;
  allowsNonLocalTokenPath: boolean;
  allowsHostSysctls: boolean;
  allowsHostNetworkWithUserNamespace: boolean;
  allowsVolumeDevicesWithUserNamespace: boolean;
  allowsAnySelinuxChangePolicy: boolean;
  allowsTolerationComparison: boolean;
  allowsRestartOnInitResize: boolean;
  /** A container may have a restart policy and rules of its own. */
  allowsRestartRules: boolean;
  /** Rules may restart all containers, and sidecars may have rules. */
  allowsRestartAll: boolean;
  allowsEnvFiles: boolean;
}

const STRICT: Omit<PodRules, keyof ReturnType<typeof featureRules>> = {
  isPod: false,
  allowsIndivisibleHugePages: false,
  allowsInvalidAffinityValues: false,
  allowsInvalidNodeAffinityValues: false,
  allowsInvalidSpreadSelectors: false,
  allowsNonLocalTokenPath: false,
  allowsHostSysctls: false,
  allowsVolumeDevicesWithUserNamespace: false,
  allowsRestartOnInitResize: false,
};

/** What features let pass. */
const featureRules = (settings: KindSettings) => ({
  settings,
  allowsInvalidDeletionCost: !isFeatureOn(settings, 'PodDeletionCost'),
  checksLabelKeysAsBefore: checksLabelKeysAsBefore(undefined, settings),
  allowsHostNetworkWithUserNamespace: isFeatureOn(settings, 'UserNamespacesHostNetworkSupport'),
  allowsAnySelinuxChangePolicy: isFeatureOn(settings, 'SELinuxMount'),
  allowsTolerationComparison: isFeatureOn(settings, 'TaintTolerationComparisonOperators'),
  allowsRestartRules: isFeatureOn(settings, 'ContainerRestartRules'),
  allowsRestartAll: isFeatureOn(settings, 'RestartAllContainersOnContainerExits'),
  allowsEnvFiles: isFeatureOn(settings, 'EnvFiles'),
});

/** An old spec that only the other way of validating lets pass is validated so. */
function checksLabelKeysAsBefore(old: PodSpec | undefined, settings: KindSettings): boolean {
  const constraints = old?.topologySpreadConstraints;
  return isFeatureOn(settings, 'MatchLabelKeysInPodTopologySpreadSelectorMerge')
    ? hasInvalidMatchLabelKeys(constraints)
    : !hasInvalidFormerLabelKeys(constraints);
}

const hasEnvFiles = (spec: PodSpec): boolean => containersOf(spec).some(({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined));

export function podRules(settings: KindSettings, old: PodSpec | undefined, oldMetadata: ObjectMeta | undefined, isPod = false): PodRules {
  const features = rulesOfNew(settings, isPod);
  if (!old) return features;
  const { hostUsers, hostNetwork, securityContext, tolerations = [], initContainers = [] } = old;
  const hasUserNamespace = hostUsers === false;
  return {
    isPod,
    settings,
    allowsInvalidDeletionCost: features.allowsInvalidDeletionCost || !isDeletionCost(oldMetadata?.annotations),
    allowsIndivisibleHugePages: hasIndivisibleHugePages(old),
    allowsInvalidAffinityValues: hasInvalidAffinityValues(old.affinity),
    allowsInvalidNodeAffinityValues: hasInvalidNodeAffinityValues(old.affinity),
    allowsInvalidSpreadSelectors: hasInvalidSpreadSelectors(old.topologySpreadConstraints),
    checksLabelKeysAsBefore: checksLabelKeysAsBefore(old, settings),
    allowsNonLocalTokenPath: hasNonLocalTokenPath(old),
    allowsHostSysctls: hasHostSysctls(old),
    allowsHostNetworkWithUserNamespace: features.allowsHostNetworkWithUserNamespace || (hasUserNamespace && hostNetwork === true),
    allowsVolumeDevicesWithUserNamespace: hasUserNamespace && containersOf(old).some(({ volumeDevices }) => volumeDevices !== undefined),
    allowsAnySelinuxChangePolicy: features.allowsAnySelinuxChangePolicy || securityContext?.seLinuxChangePolicy !== undefined,
    allowsTolerationComparison: features.allowsTolerationComparison || tolerations.some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
    allowsRestartOnInitResize: initContainers.some(
      (container) => !isSidecar(container) && (container.resizePolicy ?? []).some(({ restartPolicy }) => restartPolicy === 'RestartContainer'),
    ),
    allowsRestartRules: features.allowsRestartRules || usesRestartRules(old),
    allowsRestartAll: features.allowsRestartAll || canRestartAll(old),
    allowsEnvFiles: features.allowsEnvFiles || hasEnvFiles(old),
  };
}

const newPodRules = new WeakMap<KindSettings, PodRules>();
const newTemplateRules = new WeakMap<KindSettings, PodRules>();

/** For new ones only the server's settings count. */
function rulesOfNew(settings: KindSettings, isPod: boolean): PodRules {
  const known = isPod ? newPodRules : newTemplateRules;
  let rules = known.get(settings);
  if (rules === undefined) known.set(settings, (rules = { ...STRICT, isPod, ...featureRules(settings) }));
  return rules;
}

function hasIndivisibleHugePages(spec: PodSpec): boolean {
  const lists = [...containersOf(spec).flatMap(({ resources }) => [resources.limits, resources.requests]), spec.overhead];
  return lists.some((list) => Object.entries(list ?? {}).some(([name, quantity]) => isHugePages(name) && !isDivisibleHugePages(name, quantity)));
}

function hasNonLocalTokenPath({ volumes = [] }: PodSpec): boolean {
  const errors = new FieldErrors();
  for (const { projected } of volumes) {
    for (const { serviceAccountToken } of projected?.sources ?? []) if (serviceAccountToken) validateUnreservedPath(serviceAccountToken.path, errors);
  }
  return !errors.isEmpty;
}

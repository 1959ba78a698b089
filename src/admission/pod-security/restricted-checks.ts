import type { AnyContainer } from '../../apis/core/pod/containers-of.ts';
import type { Volume } from '../../apis/facts/types/core-v1.ts';
import {
  type Check,
  type PodLike,
  type Violation,
  containersText,
  containersWhere,
  hasUserNamespace,
  isAllowedSeccompType,
  isWindows,
  offenders,
  plural,
  procMountViolation,
  quoted,
  seccompViolation,
  settersText,
  sorted,
} from './check.ts';

const ALLOWED_VOLUMES = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'] as const;

const unlessWindows =
  (check: (pod: PodLike) => Violation | undefined) =>
  (pod: PodLike): Violation | undefined =>
    isWindows(pod.spec) ? undefined : check(pod);
const unlessUserNamespace =
  (check: (pod: PodLike) => Violation | undefined) =>
  (pod: PodLike): Violation | undefined =>
    hasUserNamespace(pod.spec) ? undefined : check(pod);

/** What hardened pods do without (pod-security-admission/policy), beyond the baseline, in the order in which it is told. */
export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    versions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: unlessWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    replaces: 'capabilities_baseline',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: unlessWindows(capabilities) },
    ],
  },
  { id: 'procMount_restricted', replaces: 'procMount', versions: [{ since: 35, check: procMountViolation }] },
  { id: 'restrictedVolumes', replaces: 'hostPathVolumes', versions: [{ since: 0, check: volumeTypes }] },
  {
    id: 'runAsNonRoot',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: unlessUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: unlessUserNamespace(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    replaces: 'seccompProfile_baseline',
    versions: [
      { since: 19, check: seccompProfile },
      { since: 25, check: unlessWindows(seccompProfile) },
    ],
  },
];

function allowPrivilegeEscalation({ spec }: PodLike): Violation | undefined {
  const containers = containersWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (containers.length === 0) return undefined;
  return { reason: 'allowPrivilegeEscalation != false', detail: `${containersText(containers)} must set securityContext.allowPrivilegeEscalation=false` };
}

const addedCapabilities = ({ securityContext }: AnyContainer): string[] =>
  (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');

function capabilities({ spec }: PodLike): Violation | undefined {
  const keeping = containersWhere(spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const adding = offenders(spec, addedCapabilities);
  const details = [
    ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.names.length > 0 ? [`${containersText(adding.names)} must not include ${quoted(adding.values)} in securityContext.capabilities.add`] : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

function volumeTypes({ spec }: PodLike): Violation | undefined {
  const bad = (spec.volumes ?? []).filter((volume) => !ALLOWED_VOLUMES.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map(typeOf));
  const uses = `${plural(bad.length, 'uses', 'use')} ${plural(types.length, 'restricted volume type', 'restricted volume types')}`;
  return {
    reason: 'restricted volume types',
    detail: `${plural(bad.length, 'volume', 'volumes')} ${quoted(bad.map(({ name }) => name))} ${uses} ${quoted(types)}`,
  };
}

const typeOf = ({ name: _name, ...source }: Volume): string => Object.keys(source)[0] ?? 'unknown';

function runAsNonRoot({ spec }: PodLike): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const ofPod = spec.securityContext?.runAsNonRoot;
  const refusing = containersWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false);
  if (ofPod === false || refusing.length > 0)
    return { reason, detail: `${settersText(ofPod === false, refusing)} must not set securityContext.runAsNonRoot=false` };
  const silent = ofPod === true ? [] : containersWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  return silent.length === 0 ? undefined : { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser({ spec }: PodLike): Violation | undefined {
  const isPodRoot = spec.securityContext?.runAsUser === 0;
  const containers = containersWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0);
  return isPodRoot || containers.length > 0 ? { reason: 'runAsUser=0', detail: `${settersText(isPodRoot, containers)} must not set runAsUser=0` } : undefined;
}

function seccompProfile(pod: PodLike): Violation | undefined {
  const wrong = seccompViolation(pod);
  if (wrong) return wrong;
  const ofPod = pod.spec.securityContext?.seccompProfile;
  const silent = ofPod && isAllowedSeccompType(ofPod.type) ? [] : containersWhere(pod.spec, ({ securityContext }) => !securityContext?.seccompProfile);
  if (silent.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

import { type AnyContainer, containersOf } from '../../apis/core/pod/containers-of.ts';
import type { PodSpec } from '../../apis/facts/types/core-v1.ts';

/** A pod, or a template of pods. */
export interface PodLike {
  metadata?: { annotations?: Readonly<Record<string, string>> };
  spec: PodSpec;
}

/** `reason` says what kind of thing is forbidden, `detail` where it is. */
export interface Violation {
  reason: string;
  detail: string;
}

/** One rule of a standard, through the versions of Kubernetes. */
export interface Check {
  id: string;
  /** By the minor version since which it holds, ascending. */
  versions: readonly { since: number; check(pod: PodLike): Violation | undefined }[];
  /** Of the restricted standard: the check of the baseline that it takes the place of. */
  replaces?: string;
}

export const quoted = (items: Iterable<string>): string => [...items].map((item) => `"${item}"`).join(', ');
export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].toSorted();
export const plural = (count: number, one: string, more: string): string => (count === 1 ? one : more);

export const containersWhere = (spec: PodSpec, matches: (container: AnyContainer) => boolean): string[] =>
  containersOf(spec)
    .filter(matches)
    .map(({ name }) => name);

/** `container "a"`, `containers "a", "b"` */
export const containersText = (names: readonly string[]): string => `${plural(names.length, 'container', 'containers')} ${quoted(names)}`;

/** `pod and container "a"` */
export const settersText = (isPod: boolean, containers: readonly string[]): string =>
  [...(isPod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ');

export const isWindows = ({ os }: PodSpec): boolean => os?.name === 'windows';
/** In a user namespace root is nobody outside (KEP-127). */
export const hasUserNamespace = ({ hostUsers }: PodSpec): boolean => hostUsers === false;

/** The containers in which something forbidden is found, and all that is, each once, in order. */
export function offenders(spec: PodSpec, find: (container: AnyContainer) => readonly string[]): { names: string[]; values: string[] } {
  const names: string[] = [];
  const values: string[] = [];
  for (const container of containersOf(spec)) {
    const found = find(container);
    if (found.length === 0) continue;
    names.push(container.name);
    values.push(...found);
  }
  return { names, values: sorted(values) };
}

export const isAllowedSeccompType = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';

interface SeccompSetter {
  securityContext?: { seccompProfile?: { type: string } };
}

const forbiddenSeccompTypes = ({ securityContext }: SeccompSetter): string[] => {
  const profile = securityContext?.seccompProfile;
  return profile && !isAllowedSeccompType(profile.type) ? [profile.type] : [];
};

/** A pod or its containers set a seccomp profile that no standard allows. */
export function seccompViolation({ spec }: PodLike): Violation | undefined {
  const ofPod = forbiddenSeccompTypes(spec);
  const { names, values } = offenders(spec, forbiddenSeccompTypes);
  if (ofPod.length === 0 && names.length === 0) return undefined;
  const setters = settersText(ofPod.length > 0, names);
  return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(sorted([...ofPod, ...values]))}` };
}

const forbiddenProcMounts = ({ securityContext }: AnyContainer): string[] => {
  const mount = securityContext?.procMount;
  return mount === undefined || mount === 'Default' ? [] : [mount];
};

export function procMountViolation({ spec }: PodLike): Violation | undefined {
  const { names, values } = offenders(spec, forbiddenProcMounts);
  return names.length === 0
    ? undefined
    : { reason: 'procMount', detail: `${containersText(names)} must not set securityContext.procMount to ${quoted(values)}` };
}

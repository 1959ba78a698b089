import type { Write } from '../../../registry/write.ts';
import type { ObjectMeta } from '../../../api/api-object.ts';
import { quote } from '../../../util/go-quote.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import { dns1123LabelErrors, labelValueErrors } from '../../../api/names.ts';
import type { Affinity, ContainerPort, EnvVar, NodeSelectorTerm, Pod, PodSpec, ResourceRequirements, Volume } from '../../facts/types/core-v1.ts';
import { deprecatedNodeLabel } from '../../validation/deprecated-node-labels.ts';
import { MAX_WARNINGS, legacyIpWarnings } from '../../validation/ip-address.ts';
import { isWholeNumber } from '../../validation/resource-names.ts';
import { APP_ARMOR, CONTAINER_SECCOMP, POD_SECCOMP, appArmorField } from './annotations.ts';
import { type AnyContainer, CONTAINER_LISTS } from './containers-of.ts';
import { overlapWarnings } from './volume-path-warnings.ts';

/** What a client is told of a pod or template that is let in but will not do what it seems to (pkg/api/pod/warnings.go). */
const DEPRECATED_ANNOTATIONS: Record<string, string> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

/** In upstream's order; `ephemeral` is looked into. */
const DEPRECATED_VOLUMES: readonly [field: keyof Volume, path: string, message: string][] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const DEPRECATED_VOLUME_FIELDS = new Set<string>(DEPRECATED_VOLUMES.map(([field]) => field));

type Warn = (path: string, message: string) => void;

/** Of a pod only its creation is worth a word; of its status the addresses are. */
export function podWarnings({ object: pod, old }: Write<Pod>): string[] {
  if (old) return equalJson([pod.status.podIPs, pod.status.hostIPs], [old.status.podIPs, old.status.hostIPs]) ? [] : statusIpWarnings(pod);
  const nameErrors = dns1123LabelErrors(pod.metadata.name ?? '');
  const ofName =
    nameErrors.length === 0
      ? []
      : [`metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${nameErrors.join(' ')}]`];
  return [...ofName, ...podSpecWarnings(pod.spec, pod.metadata, '')];
}

function statusIpWarnings({ status }: Pod): string[] {
  return (['podIPs', 'hostIPs'] as const).flatMap((list) =>
    legacyIpWarnings(
      status[list],
      ({ ip }) => ip,
      (index) => `status.${list}[${index}].ip`,
    ),
  );
}

/** `path` is a template's, and empty for a pod. */
export function podSpecWarnings(spec: PodSpec, metadata: ObjectMeta, path: string): string[] {
  const warnings: string[] = [];
  const prefix = path === '' ? '' : `${path}.`;
  const at = `${prefix}spec`;
  const annotations = metadata.annotations ?? {};
  const warn: Warn = (place, message) => {
    if (warnings.length < MAX_WARNINGS) warnings.push(`${place}: ${message}`);
  };
  for (const key in spec.nodeSelector) {
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warn(`${at}.nodeSelector[${key}]`, message);
  }
  if (spec.affinity) warnOfNodeAffinity(spec.affinity, at, warn);
  warnOfTopologySpread(spec, at, warn);
  for (const key in DEPRECATED_ANNOTATIONS) if (annotations[key] !== undefined) warn(`${prefix}metadata.annotations[${key}]`, DEPRECATED_ANNOTATIONS[key]!);
  for (const [index, volume] of (spec.volumes ?? []).entries()) if (hasWarning(volume)) warnOfVolume(volume, `${at}.volumes[${index}]`, warn);
  warnings.push(...overlapWarnings(spec.volumes ?? []));
  warnOfDuplicates(spec, at, warn);
  warnOfFractions({ limits: spec.overhead ?? {} }, ['limits'], () => `${at}.overhead`, warn);
  if (annotations[POD_SECCOMP] !== undefined && !spec.securityContext?.seccompProfile)
    warn(`${prefix}metadata.annotations[${POD_SECCOMP}]`, 'non-functional in v1.27+; use the "seccompProfile" field instead');
  const containers = CONTAINER_LISTS.flatMap((list) => (spec[list] ?? []).map((container, index) => [container, `${at}.${list}[${index}]`] as const));
  for (const [container, place] of containers) {
    if (metadata.annotations) warnOfProfiles(container, spec, metadata.annotations, path, warn);
    warnOfFractions(container.resources, ['limits', 'requests'], (side) => `${place}.resources.${side}`, warn);
    if (container.env) warnOfHiddenVariables(container.env, place, warn);
  }
  warnOfPorts(containers, warn);
  warnOfPortNames(containers, warn);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    warn(`${at}.terminationGracePeriodSeconds`, 'must be >= 0; negative values are invalid and will be treated as 1');
  if (spec.affinity) warnOfPodAffinity(spec.affinity, at, warn);
  const ofServers = legacyIpWarnings(
    spec.dnsConfig?.nameservers,
    (server) => server,
    (index) => `${at}.dnsConfig.nameservers[${index}]`,
  );
  const ofAliases = legacyIpWarnings(
    spec.hostAliases,
    ({ ip }) => ip,
    (index) => `${at}.hostAliases[${index}].ip`,
  );
  return [...warnings, ...ofServers, ...ofAliases];
}

function warnOfNodeAffinity({ nodeAffinity }: Affinity, at: string, warn: Warn): void {
  const place = `${at}.affinity.nodeAffinity`;
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const [index, term] of required.entries())
    warnOfTerm(term, `${place}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`, false, warn);
  const preferred = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const [index, { preference }] of preferred.entries())
    warnOfTerm(preference, `${place}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`, true, warn);
}

function warnOfTerm({ matchExpressions = [] }: NodeSelectorTerm, at: string, looksAtValues: boolean, warn: Warn): void {
  for (const [index, { key, values = [] }] of matchExpressions.entries()) {
    const place = `${at}.matchExpressions[${index}]`;
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warn(`${place}.key`, `${key} is ${message}`);
    if (!looksAtValues) continue;
    for (const [valueIndex, value] of values.entries())
      for (const error of labelValueErrors(value)) warn(`${place}.values[${valueIndex}]`, `${value} is invalid, ${error}`);
  }
}

function warnOfTopologySpread({ topologySpreadConstraints = [] }: PodSpec, at: string, warn: Warn): void {
  for (const [index, { topologyKey, labelSelector }] of topologySpreadConstraints.entries()) {
    const place = `${at}.topologySpreadConstraints[${index}]`;
    const message = deprecatedNodeLabel(topologyKey);
    if (message !== undefined) warn(`${place}.topologyKey`, `${topologyKey} is ${message}`);
    if (!labelSelector) warn(`${place}.labelSelector`, NULL_SELECTOR);
  }
}

const NULL_SELECTOR = 'a null labelSelector results in matching no pod';

function warnOfPodAffinity(affinity: Affinity, at: string, warn: Warn): void {
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const place = `${at}.affinity.${kind}`;
    for (const [index, { labelSelector }] of (affinity[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (!labelSelector) warn(`${place}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector`, NULL_SELECTOR);
    }
    for (const [index, { podAffinityTerm }] of (affinity[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (!podAffinityTerm.labelSelector)
        warn(`${place}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector`, NULL_SELECTOR);
    }
  }
}

/** What most volumes have none of is looked for by the fields that they have. */
function hasWarning(volume: Volume): boolean {
  for (const field in volume) if (field === 'ephemeral' || DEPRECATED_VOLUME_FIELDS.has(field)) return true;
  return false;
}

function warnOfVolume(volume: Volume, at: string, warn: Warn): void {
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec.resources;
  for (const [field, path, message] of DEPRECATED_VOLUMES) {
    if (volume[field] !== undefined) warn(`${at}.${path}`, message);
    if (field !== 'glusterfs' || !claim) continue;
    for (const side of ['requests', 'limits'] as const)
      warnOfFraction(claim[side]?.['storage'], () => `${at}.ephemeral.volumeClaimTemplate.spec.resources.${side}[storage]`, warn);
  }
}

function warnOfDuplicates({ hostAliases = [], imagePullSecrets = [] }: PodSpec, at: string, warn: Warn): void {
  if (hostAliases.length === 0 && imagePullSecrets.length === 0) return;
  const warnOfRepeated = <T>(items: readonly T[], valueOf: (item: T) => string, place: (index: number) => string, what: string): void => {
    const seen = new Set<string>();
    for (let index = 0; index < items.length; index++) {
      const value = valueOf(items[index]!);
      if (seen.has(value)) warn(place(index), `duplicate ${what} ${quote(value)}`);
      else seen.add(value);
    }
  };
  const ofSecret = (index: number): string => `${at}.imagePullSecrets[${index}].name`;
  warnOfRepeated(
    hostAliases,
    ({ ip }) => ip,
    (index) => `${at}.hostAliases[${index}].ip`,
    'ip',
  );
  warnOfRepeated(imagePullSecrets, ({ name = '' }) => name, ofSecret, 'name');
  for (let index = 0; index < imagePullSecrets.length; index++) if (!imagePullSecrets[index]!.name) warn(ofSecret(index), 'invalid empty name ""');
}

/** Bytes come whole. */
function warnOfFractions(
  resources: Pick<ResourceRequirements, 'limits' | 'requests'>,
  sides: readonly ('limits' | 'requests')[],
  place: (side: string) => string,
  warn: Warn,
): void {
  for (const name of WHOLE_RESOURCES) {
    for (const side of sides) {
      const quantity = resources[side]?.[name];
      if (quantity !== undefined) warnOfFraction(quantity, () => `${place(side)}[${name}]`, warn);
    }
  }
}

const WHOLE_RESOURCES = ['memory', 'ephemeral-storage'];

function warnOfFraction(quantity: string | undefined, place: () => string, warn: Warn): void {
  // Only amounts with such a suffix, or an exponent, can be fractions.
  if (quantity === undefined || !/[mun]$|e/i.test(quantity) || isWholeNumber(quantity)) return;
  warn(place(), `fractional byte value ${quote(quantity)} is invalid, must be an integer`);
}

function warnOfProfiles({ name, securityContext }: AnyContainer, spec: PodSpec, annotations: Record<string, string>, path: string, warn: Warn): void {
  const place = `${path === '' ? '' : `${path}.`}metadata.annotations`;
  const seccomp = CONTAINER_SECCOMP + name;
  if (annotations[seccomp] !== undefined && !securityContext?.seccompProfile)
    warn(`${place}[${seccomp}]`, 'non-functional in v1.27+; use the "seccompProfile" field instead');
  const appArmor = APP_ARMOR + name;
  // A pod's annotations have become fields by now, and were warned of then.
  if (path === '' || annotations[appArmor] === undefined || securityContext?.appArmorProfile) return;
  const ofPod = spec.securityContext?.appArmorProfile;
  if (!ofPod || !equalJson(ofPod, appArmorField(annotations[appArmor])))
    warn(`${place}[${appArmor}]`, 'deprecated since v1.30; use the "appArmorProfile" field instead');
}

/** A variable that takes the place of an earlier one without making use of it. */
function warnOfHiddenVariables(env: readonly EnvVar[], at: string, warn: Warn): void {
  const names = new Set<string>();
  for (const [index, { name, value = '', valueFrom }] of env.entries()) {
    const reference = `$(${name})`;
    const isHiding = valueFrom !== undefined || value === reference || !value.includes(reference);
    if (names.has(name) && isHiding) warn(`${at}.env[${index}]`, `hides previous definition of ${quote(name)}, which may be dropped when using apply`);
    names.add(name);
  }
}

/** Each is compared with so many; far fewer warnings than that reach a client. */
const MAX_COMPARED = 100;

function warnOfPorts(containers: readonly (readonly [AnyContainer, string])[], warn: Warn): void {
  const known = new Map<string, PlacedPort[]>();
  for (const [{ ports = [] }, at] of containers) {
    for (const [index, port] of ports.entries()) {
      const { hostIP = '', hostPort = 0 } = port;
      const place = `${at}.ports[${index}]`;
      if (hostIP !== '' && hostPort === 0) warn(place, `hostIP set without hostPort: ${printPort(port)}`);
      const key = `${port.containerPort}/${port.protocol ?? ''}`;
      const others = known.get(key) ?? [];
      for (const other of others) warnOfOverlap({ place, hostIP, hostPort }, other, warn);
      if (others.length < MAX_COMPARED) others.push({ place, hostIP, hostPort });
      known.set(key, others);
    }
  }
}

interface PlacedPort {
  place: string;
  hostIP: string;
  hostPort: number;
}

function warnOfOverlap(port: PlacedPort, other: PlacedPort, warn: Warn): void {
  if (port.hostIP === other.hostIP && port.hostPort === other.hostPort) warn(port.place, `duplicate port definition with ${other.place}`);
  else if (port.hostPort === 0 || other.hostPort === 0) warn(port.place, `overlapping port definition with ${other.place}`);
  else if (port.hostPort === other.hostPort && (port.hostIP === '') !== (other.hostIP === ''))
    warn(port.place, `dangerously ambiguous port definition with ${other.place}`);
}

/** As Go prints the struct. */
const printPort = ({ name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' }: ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function warnOfPortNames(containers: readonly (readonly [AnyContainer, string])[], warn: Warn): void {
  const known = new Map<string, string>();
  for (const [{ ports = [] }, at] of containers) {
    for (const [index, { name = '' }] of ports.entries()) {
      const place = `${at}.ports[${index}]`;
      const other = known.get(name);
      if (other !== undefined) warn(place, `duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`);
      else if (name !== '') known.set(name, place);
    }
  }
}

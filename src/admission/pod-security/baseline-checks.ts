import { type AnyContainer, containersOf } from '../../apis/core/pod/containers-of.ts';
import type { SELinuxOptions } from '../../apis/facts/types/core-v1.ts';
import { quote } from '../../util/go-quote.ts';
import {
  type Check,
  type PodLike,
  type Violation,
  containersText,
  containersWhere,
  hasUserNamespace,
  offenders,
  plural,
  procMountViolation,
  quoted,
  seccompViolation,
  settersText,
  sorted,
} from './check.ts';

const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/';
const DEFAULT_CAPABILITIES = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' '),
);
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
/** Sysctls that reach no further than their pod, by the minor version that added them. */
const SAFE_SYSCTLS: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    ['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes']],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

/** The known ways to more than a container's share (pod-security-admission/policy), in the order in which they are told. */
export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', versions: [{ since: 0, check: appArmorProfile }] },
  { id: 'capabilities_baseline', versions: [{ since: 0, check: capabilities }] },
  { id: 'hostNamespaces', versions: [{ since: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', versions: [{ since: 0, check: hostPathVolumes }] },
  { id: 'hostPorts', versions: [{ since: 0, check: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', versions: [{ since: 34, check: handlerHosts }] },
  { id: 'privileged', versions: [{ since: 0, check: privileged }] },
  {
    id: 'procMount',
    versions: [
      { since: 0, check: procMountViolation },
      { since: 35, check: (pod) => (hasUserNamespace(pod.spec) ? undefined : procMountViolation(pod)) },
    ],
  },
  {
    id: 'seLinuxOptions',
    versions: [
      { since: 0, check: seLinuxOptions(SELINUX_TYPES) },
      { since: 31, check: seLinuxOptions([...SELINUX_TYPES, 'container_engine_t']) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccompViolation },
    ],
  },
  { id: 'sysctls', versions: SAFE_SYSCTLS.map(([since]) => ({ since, check: sysctls(since) })) },
  { id: 'windowsHostProcess', versions: [{ since: 0, check: windowsHostProcess }] },
];

interface AppArmorSetter {
  securityContext?: { appArmorProfile?: { type: string } };
}

const forbiddenAppArmorTypes = ({ securityContext }: AppArmorSetter): string[] => {
  const type = securityContext?.appArmorProfile?.type;
  return type === undefined || type === 'RuntimeDefault' || type === 'Localhost' ? [] : [type];
};

const isForbiddenAppArmorAnnotation = ([key, value]: [string, string]): boolean =>
  key.startsWith(APP_ARMOR_ANNOTATION) && value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/');

function appArmorProfile({ metadata, spec }: PodLike): Violation | undefined {
  const ofPod = forbiddenAppArmorTypes(spec);
  const { names, values } = offenders(spec, forbiddenAppArmorTypes);
  const annotations = Object.entries(metadata?.annotations ?? {})
    .filter(isForbiddenAppArmorAnnotation)
    .map(([key, value]) => `${key}=${quote(value)}`)
    .toSorted();
  const setters = [settersText(ofPod.length > 0, names), annotations.length === 0 ? '' : plural(annotations.length, 'annotation', 'annotations')].filter(
    Boolean,
  );
  if (setters.length === 0) return undefined;
  const all = [...sorted([...ofPod, ...values]), ...annotations];
  return {
    reason: plural(all.length, 'forbidden AppArmor profile', 'forbidden AppArmor profiles'),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(all)}`,
  };
}

const addedCapabilities = ({ securityContext }: AnyContainer): string[] =>
  (securityContext?.capabilities?.add ?? []).filter((name) => !DEFAULT_CAPABILITIES.has(name));

function capabilities({ spec }: PodLike): Violation | undefined {
  const { names, values } = offenders(spec, addedCapabilities);
  if (names.length === 0) return undefined;
  return { reason: 'non-default capabilities', detail: `${containersText(names)} must not include ${quoted(values)} in securityContext.capabilities.add` };
}

function hostNamespaces({ spec }: PodLike): Violation | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]).map((field) => `${field}=true`);
  return shared.length === 0 ? undefined : { reason: 'host namespaces', detail: shared.join(', ') };
}

function hostPathVolumes({ spec }: PodLike): Violation | undefined {
  const volumes = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  return volumes.length === 0 ? undefined : { reason: 'hostPath volumes', detail: `${plural(volumes.length, 'volume', 'volumes')} ${quoted(volumes)}` };
}

const hostPortsOf = ({ ports }: AnyContainer): string[] => (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));

function hostPorts({ spec }: PodLike): Violation | undefined {
  const { names, values } = offenders(spec, hostPortsOf);
  if (names.length === 0) return undefined;
  const uses = `${plural(names.length, 'uses', 'use')} ${plural(values.length, 'hostPort', 'hostPorts')}`;
  return { reason: 'hostPort', detail: `${containersText(names)} ${uses} ${values.join(', ')}` };
}

const handlerHostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: AnyContainer): string[] =>
  [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '');

function handlerHosts({ spec }: PodLike): Violation | undefined {
  const { names, values } = offenders(spec, handlerHostsOf);
  if (names.length === 0) return undefined;
  const uses = `${plural(names.length, 'uses', 'use')} ${plural(values.length, 'probe or lifecycle host', 'probe or lifecycle hosts')}`;
  return { reason: 'probe or lifecycle host', detail: `${containersText(sorted(names))} ${uses} ${quoted(values)}` };
}

function privileged({ spec }: PodLike): Violation | undefined {
  const containers = containersWhere(spec, ({ securityContext }) => securityContext?.privileged === true);
  return containers.length === 0 ? undefined : { reason: 'privileged', detail: `${containersText(containers)} must not set securityContext.privileged=true` };
}

function seLinuxOptions(allowedTypes: readonly string[]): (pod: PodLike) => Violation | undefined {
  const isBad = (options: SELinuxOptions | undefined): options is SELinuxOptions =>
    options !== undefined && (!allowedTypes.includes(options.type ?? '') || Boolean(options.user || options.role));
  return ({ spec }) => {
    const podOptions = spec.securityContext?.seLinuxOptions;
    const containers = containersWhere(spec, ({ securityContext }) => isBad(securityContext?.seLinuxOptions));
    const bad = [podOptions, ...containersOf(spec).map(({ securityContext }) => securityContext?.seLinuxOptions)].filter(isBad);
    if (bad.length === 0) return undefined;
    const types = sorted(bad.map(({ type = '' }) => type).filter((type) => !allowedTypes.includes(type)));
    const faults = [
      ...(types.length > 0 ? [`${plural(types.length, 'type', 'types')} ${quoted(types)}`] : []),
      ...(bad.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(bad.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${settersText(isBad(podOptions), containers)} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`,
    };
  };
}

const isAllowedSeccompAnnotation = (value: string): boolean => value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');

function seccompAnnotations({ metadata, spec }: PodLike): Violation | undefined {
  const keys = [SECCOMP_POD_ANNOTATION, ...containersOf(spec).map(({ name }) => SECCOMP_CONTAINER_ANNOTATION + name)];
  const forbidden = sorted(
    keys.flatMap((key) => {
      const value = metadata?.annotations?.[key];
      return value === undefined || isAllowedSeccompAnnotation(value) ? [] : [`${key}=${quote(value)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural(forbidden.length, 'annotation', 'annotations')} ${forbidden.join(', ')}` };
}

function sysctls(minor: number): (pod: PodLike) => Violation | undefined {
  const safe = new Set(SAFE_SYSCTLS.filter(([since]) => since <= minor).flatMap(([, names]) => names));
  return ({ spec }) => {
    const forbidden = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !safe.has(name));
    return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') };
  };
}

function windowsHostProcess({ spec }: PodLike): Violation | undefined {
  const isPodBad = spec.securityContext?.windowsOptions?.hostProcess === true;
  const containers = containersWhere(spec, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  if (!isPodBad && containers.length === 0) return undefined;
  return { reason: 'hostProcess', detail: `${settersText(isPodBad, containers)} must not set securityContext.windowsOptions.hostProcess=true` };
}

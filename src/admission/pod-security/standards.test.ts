import { describe, expect, test } from 'vitest';
import type { PodLike } from './check.ts';
import { violationsOf } from './evaluate.ts';

/*
 * Pod Security Standards (kubernetes.io/docs/concepts/security/pod-security-standards), control by control, in every version from v1.0 to v1.36. Each row
 * changes one thing of a pod that keeps all rules, and says since which version, and until which, either level forbids it.
 */

const LATEST = 36;
const MINORS = Array.from({ length: LATEST + 1 }, (_, minor) => minor);

/** First and last minor version that forbid it. */
type Versions = readonly [since: number, until: number];
const ALWAYS: Versions = [0, LATEST];
const since = (minor: number): Versions => [minor, LATEST];
const until = (minor: number): Versions => [0, minor];

interface Row {
  what: string;
  pod?: object;
  container?: object;
  annotations?: Record<string, string>;
  /** By what it is called where it is forbidden. */
  baseline?: Readonly<Record<string, Versions>>;
  restricted?: Readonly<Record<string, Versions>>;
}

const HARDENED = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
/** What is set to undefined is taken away. */
const secured = (changes: object): object => ({ securityContext: { ...HARDENED, ...changes } });
const both = (reason: string, versions: Versions = ALWAYS): Pick<Row, 'baseline' | 'restricted'> => ({
  baseline: { [reason]: versions },
  restricted: { [reason]: versions },
});

/** A change, with what comes of it. */
const row = (change: Row, verdict: Pick<Row, 'baseline' | 'restricted'> = {}): Row => ({ ...change, ...verdict });

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/c';
const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/c';
const WINDOWS = { os: { name: 'windows' } };
const USER_NAMESPACE = { hostUsers: false };

const appArmor: Row[] = [
  ...['RuntimeDefault', 'Localhost'].map((type) => ({ what: `pod ${type}`, pod: { securityContext: { appArmorProfile: { type } } } })),
  ...['RuntimeDefault', 'Localhost'].map((type) => ({ what: `container ${type}`, container: secured({ appArmorProfile: { type } }) })),
  ...['runtime/default', 'localhost/x', ''].map((value) => ({ what: `annotation ${JSON.stringify(value)}`, annotations: { [APP_ARMOR]: value } })),
  { what: 'pod Unconfined', pod: { securityContext: { appArmorProfile: { type: 'Unconfined' } } }, ...both('forbidden AppArmor profile') },
  { what: 'container Unconfined', container: secured({ appArmorProfile: { type: 'Unconfined' } }), ...both('forbidden AppArmor profile') },
  { what: 'annotation unconfined', annotations: { [APP_ARMOR]: 'unconfined' }, ...both('forbidden AppArmor profile') },
];

const DEFAULT_CAPABILITIES = 'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(' ');
const adding = (name: string): object => secured({ capabilities: { drop: ['ALL'], add: [name] } });
const restrictedCapabilities = { restricted: { 'unrestricted capabilities': since(22) } };
const capabilities: Row[] = [
  { what: 'NET_BIND_SERVICE, which all may add', container: adding('NET_BIND_SERVICE') },
  ...DEFAULT_CAPABILITIES.filter((name) => name !== 'NET_BIND_SERVICE').map((name) => row({ what: name, container: adding(name) }, restrictedCapabilities)),
  ...['SYS_ADMIN', 'NET_RAW', 'NET_ADMIN', 'CAP_CHOWN', 'chown'].map((name) => ({
    what: name,
    container: adding(name),
    baseline: { 'non-default capabilities': ALWAYS },
    restricted: { 'non-default capabilities': until(21), 'unrestricted capabilities': since(22) },
  })),
  { what: 'nothing dropped', container: secured({ capabilities: undefined }), ...restrictedCapabilities },
  { what: 'some dropped', container: secured({ capabilities: { drop: ['CHOWN'] } }), ...restrictedCapabilities },
  {
    what: 'nothing dropped on Windows',
    pod: WINDOWS,
    container: secured({ capabilities: undefined }),
    restricted: { 'unrestricted capabilities': [22, 24] },
  },
];

const host: Row[] = [
  ...['hostNetwork', 'hostPID', 'hostIPC'].flatMap((field) => [
    { what: `${field}=true`, pod: { [field]: true }, ...both('host namespaces') },
    { what: `${field}=false`, pod: { [field]: false } },
  ]),
  {
    what: 'hostPath',
    pod: { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    baseline: { 'hostPath volumes': ALWAYS },
    restricted: { 'restricted volume types': ALWAYS },
  },
  { what: 'hostPort', container: { ports: [{ containerPort: 1, hostPort: 1 }] }, ...both('hostPort') },
  { what: 'hostPort 0', container: { ports: [{ containerPort: 1, hostPort: 0 }] } },
  { what: 'privileged', container: secured({ privileged: true }), ...both('privileged') },
  { what: 'not privileged', container: secured({ privileged: false }) },
  { what: 'pod hostProcess', pod: { securityContext: { windowsOptions: { hostProcess: true } } }, ...both('hostProcess') },
  { what: 'container hostProcess', container: secured({ windowsOptions: { hostProcess: true } }), ...both('hostProcess') },
  { what: 'no hostProcess', pod: { securityContext: { windowsOptions: { hostProcess: false } } } },
];

const HANDLERS = [{ httpGet: { host: 'h', port: 1 } }, { tcpSocket: { host: 'h', port: 1 } }];
const PLACES: readonly ((handler: object) => object)[] = [
  (handler) => ({ livenessProbe: handler }),
  (handler) => ({ readinessProbe: handler }),
  (handler) => ({ startupProbe: handler }),
  (handler) => ({ lifecycle: { postStart: handler } }),
  (handler) => ({ lifecycle: { preStop: handler } }),
];
const handlers: Row[] = [
  ...PLACES.flatMap((place) =>
    HANDLERS.map((handler) => row({ what: JSON.stringify(place(handler)), container: place(handler) }, both('probe or lifecycle host', since(34)))),
  ),
  ...PLACES.map((place) => ({ what: `${JSON.stringify(place({ httpGet: { port: 1 } }))} of the pod`, container: place({ httpGet: { port: 1 } }) })),
  { what: 'of gRPC', container: { livenessProbe: { grpc: { port: 1 } } } },
];

const procMount: Row[] = [
  { what: 'Default', container: secured({ procMount: 'Default' }) },
  { what: 'Unmasked', container: secured({ procMount: 'Unmasked' }), ...both('procMount') },
  {
    what: 'Unmasked in a user namespace',
    pod: USER_NAMESPACE,
    container: secured({ procMount: 'Unmasked' }),
    baseline: { procMount: until(34) },
    restricted: { procMount: ALWAYS },
  },
];

const selinux: Row[] = [
  ...['', 'container_t', 'container_init_t', 'container_kvm_t'].map((type) => ({
    what: `type ${JSON.stringify(type)}`,
    container: secured({ seLinuxOptions: { type } }),
  })),
  { what: 'level', pod: { securityContext: { seLinuxOptions: { level: 's0' } } } },
  { what: 'type container_engine_t', container: secured({ seLinuxOptions: { type: 'container_engine_t' } }), ...both('seLinuxOptions', until(30)) },
  ...[{ type: 'spc_t' }, { user: 'u' }, { role: 'r' }].flatMap((seLinuxOptions) => [
    { what: `pod ${JSON.stringify(seLinuxOptions)}`, pod: { securityContext: { seLinuxOptions } }, ...both('seLinuxOptions') },
    { what: `container ${JSON.stringify(seLinuxOptions)}`, container: secured({ seLinuxOptions }), ...both('seLinuxOptions') },
  ]),
];

const UNSET = secured({ seccompProfile: undefined });
const seccomp: Row[] = [
  ...['runtime/default', 'docker/default', 'localhost/x'].map((value) => ({ what: `annotation ${value}`, annotations: { [SECCOMP]: value } })),
  ...[SECCOMP, SECCOMP_CONTAINER].map((key) => row({ what: `annotation ${key}`, annotations: { [key]: 'unconfined' } }, both('seccompProfile', until(18)))),
  { what: 'container Localhost', container: secured({ seccompProfile: { type: 'Localhost' } }) },
  { what: 'container Unconfined', container: secured({ seccompProfile: { type: 'Unconfined' } }), ...both('seccompProfile', since(19)) },
  { what: 'pod Unconfined', pod: { securityContext: { seccompProfile: { type: 'Unconfined' } } }, ...both('seccompProfile', since(19)) },
  { what: 'unset', container: UNSET, restricted: { seccompProfile: since(19) } },
  { what: 'unset, but in the pod', pod: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, container: UNSET },
  { what: 'unset on Windows', pod: WINDOWS, container: UNSET, restricted: { seccompProfile: [19, 24] } },
];

const sysctl = (name: string): object => ({ securityContext: { sysctls: [{ name, value: '1' }] } });
const SAFE_SINCE: Readonly<Record<string, number>> = {
  'kernel.shm_rmid_forced': 0,
  'net.ipv4.ip_local_port_range': 0,
  'net.ipv4.ip_unprivileged_port_start': 0,
  'net.ipv4.tcp_syncookies': 0,
  'net.ipv4.ping_group_range': 0,
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
};
const sysctls: Row[] = [
  ...Object.entries(SAFE_SINCE).map(([name, minor]) => row({ what: name, pod: sysctl(name) }, minor > 0 ? both('forbidden sysctls', until(minor - 1)) : {})),
  ...['kernel.msgmax', 'net.core.somaxconn', 'net/ipv4/tcp_syncookies'].map((name) => row({ what: name, pod: sysctl(name) }, both('forbidden sysctls'))),
];

const VOLUMES_ALLOWED = 'configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret'.split(' ');
const VOLUMES_RESTRICTED = (
  'awsElasticBlockStore azureDisk azureFile cephfs cinder fc flexVolume flocker gcePersistentDisk gitRepo glusterfs iscsi nfs photonPersistentDisk ' +
  'portworxVolume quobyte rbd scaleIO storageos vsphereVolume'
).split(' ');
const volume = (type: string): object => ({ volumes: [{ name: 'v', [type]: {} }] });
const volumes: Row[] = [
  ...VOLUMES_ALLOWED.map((type) => ({ what: type, pod: volume(type) })),
  ...VOLUMES_RESTRICTED.map((type) => ({ what: type, pod: volume(type), restricted: { 'restricted volume types': ALWAYS } })),
];

const ESCALATING = { 'allowPrivilegeEscalation != false': since(8) };
const ROOT = 'runAsNonRoot != true';
const users: Row[] = [
  { what: 'escalation unsaid', container: secured({ allowPrivilegeEscalation: undefined }), restricted: ESCALATING },
  { what: 'escalation', container: secured({ allowPrivilegeEscalation: true }), restricted: ESCALATING },
  {
    what: 'escalation on Windows',
    pod: WINDOWS,
    container: secured({ allowPrivilegeEscalation: undefined }),
    restricted: { 'allowPrivilegeEscalation != false': [8, 24] },
  },
  { what: 'runAsNonRoot unsaid', container: secured({ runAsNonRoot: undefined }), restricted: { [ROOT]: ALWAYS } },
  { what: 'runAsNonRoot unsaid, but in the pod', pod: { securityContext: { runAsNonRoot: true } }, container: secured({ runAsNonRoot: undefined }) },
  { what: 'runAsNonRoot=false', container: secured({ runAsNonRoot: false }), restricted: { [ROOT]: ALWAYS } },
  { what: 'runAsNonRoot=false in the pod', pod: { securityContext: { runAsNonRoot: false } }, restricted: { [ROOT]: ALWAYS } },
  { what: 'runAsNonRoot=false in a user namespace', pod: USER_NAMESPACE, container: secured({ runAsNonRoot: false }), restricted: { [ROOT]: until(34) } },
  { what: 'runAsUser=0', container: secured({ runAsUser: 0 }), restricted: { 'runAsUser=0': since(23) } },
  { what: 'runAsUser=0 in the pod', pod: { securityContext: { runAsUser: 0 } }, restricted: { 'runAsUser=0': since(23) } },
  { what: 'runAsUser=0 in a user namespace', pod: USER_NAMESPACE, container: secured({ runAsUser: 0 }), restricted: { 'runAsUser=0': [23, 34] } },
  { what: 'runAsUser=1', container: secured({ runAsUser: 1 }) },
];

const CONTROLS: Readonly<Record<string, readonly Row[]>> = {
  'a hardened pod': [{ what: 'in all versions' }],
  AppArmor: appArmor,
  capabilities,
  'the host': host,
  'hosts of probes and hooks': handlers,
  '/proc mount type': procMount,
  SELinux: selinux,
  seccomp,
  sysctls,
  'volume types': volumes,
  'users and escalation': users,
};

const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** The changed container in one of the lists; beside it stands one that keeps all rules. */
function podOf({ pod, container = {}, annotations = {} }: Row, list: (typeof LISTS)[number]): PodLike {
  const good = { name: 'good', image: 'i', securityContext: HARDENED };
  const changed = { name: 'c', image: 'i', securityContext: HARDENED, ...container };
  const lists = list === 'containers' ? { containers: [changed, good] } : { containers: [good], [list]: [changed] };
  return { metadata: { annotations }, spec: { ...lists, ...pod } } as unknown as PodLike;
}

const forbiddenIn = (versions: Readonly<Record<string, Versions>> = {}): string[] =>
  Object.entries(versions).flatMap(([reason, [first, last]]) =>
    MINORS.filter((minor) => minor >= first && minor <= last).map((minor) => `v1.${minor}: ${reason}`),
  );

const foundIn = (level: 'privileged' | 'baseline' | 'restricted', pod: PodLike): string[] =>
  MINORS.flatMap((minor) => violationsOf({ level, minor }, pod).map(({ reason }) => `v1.${minor}: ${reason}`));

describe.each(Object.entries(CONTROLS))('%s', (_, rows) => {
  test.each(rows.map((one) => [one.what, one] as const))('%s', (_what, one) => {
    for (const list of one.container ? LISTS : LISTS.slice(0, 1)) {
      const pod = podOf(one, list);
      expect(foundIn('privileged', pod)).toEqual([]);
      expect(foundIn('baseline', pod)).toEqual(forbiddenIn(one.baseline));
      expect(foundIn('restricted', pod)).toEqual(forbiddenIn(one.restricted));
      for (const level of ['baseline', 'restricted'] as const)
        expect(violationsOf({ level, minor: Infinity }, pod)).toEqual(violationsOf({ level, minor: LATEST }, pod));
    }
  });
});

import { describe, expect, test } from 'vitest';
import type { AdmissionPlugin } from '../plugin.ts';
import { type TestedWrite, admit, testEnvironment, writeOf } from '../testing/attributes.ts';
import { violationsOf } from './evaluate.ts';
import { policyOf, standardName } from './policy.ts';
import { podSecurity } from './pod-security.ts';

const label = (mode: string): string => `pod-security.kubernetes.io/${mode}`;
const container = (securityContext: object = {}, more: object = {}): object => ({ name: 'c', image: 'i', securityContext, ...more });
const podOf = (spec: object, annotations: Record<string, string> = {}): never =>
  ({ metadata: { name: 'x', annotations }, spec: { containers: [container()], ...spec } }) as never;
const GOOD = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

const standards = (labels: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(policyOf(labels).policy).map(([mode, standard]) => [mode, standardName(standard)]));

describe('labels', () => {
  test.each([
    [{}, { enforce: 'privileged:latest', audit: 'privileged:latest', warn: 'privileged:latest' }],
    [
      { [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.20' },
      { enforce: 'baseline:v1.20', audit: 'privileged:latest', warn: 'baseline:v1.20' },
    ],
    [
      { [label('enforce')]: 'restricted', [label('warn-version')]: 'v1.9' },
      { enforce: 'restricted:latest', audit: 'privileged:latest', warn: 'restricted:v1.9' },
    ],
    [
      { [label('enforce')]: 'baseline', [label('warn')]: 'restricted' },
      { enforce: 'baseline:latest', audit: 'privileged:latest', warn: 'restricted:latest' },
    ],
    [
      { [label('enforce')]: 'x', [label('audit')]: 'y', [label('warn-version')]: 'v1.01' },
      { enforce: 'restricted:latest', audit: 'privileged:latest', warn: 'privileged:latest' },
    ],
  ])('%j', (labels, expected) => {
    expect(standards(labels)).toEqual(expected);
  });
});

const PROBE = { livenessProbe: { httpGet: { host: 'h', port: 1 } } };

test.each<[string, object, Record<string, string>, string]>([
  [
    'an AppArmor type',
    { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
    {},
    'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
  ],
  [
    ...(['an AppArmor annotation', {}, { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }] as const),
    'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  ],
  [
    'capabilities',
    { containers: [container({ capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } })] },
    {},
    'non-default capabilities (container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  ['host namespaces', { hostNetwork: true, hostIPC: true }, {}, 'host namespaces (hostNetwork=true, hostIPC=true)'],
  [
    'host paths',
    {
      volumes: [
        { name: 'a', hostPath: { path: '/' } },
        { name: 'b', hostPath: { path: '/' } },
      ],
    },
    {},
    'hostPath volumes (volumes "a", "b")',
  ],
  [
    'host ports',
    { containers: [container({}, { ports: [{ hostPort: 9 }, { hostPort: 80 }, { hostPort: 0 }] })] },
    {},
    'hostPort (container "c" uses hostPorts 80, 9)',
  ],
  ['hosts of probes', { containers: [container({}, PROBE)] }, {}, 'probe or lifecycle host (container "c" uses probe or lifecycle host "h")'],
  [
    'privileged containers',
    { initContainers: [container({ privileged: true })] },
    {},
    'privileged (container "c" must not set securityContext.privileged=true)',
  ],
  [
    'unmasked /proc',
    { containers: [container({ procMount: 'Unmasked' })] },
    {},
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    ...([
      'SELinux options',
      { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } }, containers: [container({ seLinuxOptions: { role: 'r' } })] },
      {},
    ] as const),
    'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)',
  ],
  [
    'a seccomp type',
    { containers: [container({ seccompProfile: { type: 'Unconfined' } })] },
    {},
    'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  ['sysctls', { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }, { name: 'kernel.msgmax' }] } }, {}, 'forbidden sysctls (kernel.msgmax)'],
  [
    'host processes',
    { securityContext: { windowsOptions: { hostProcess: true } } },
    {},
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
])('the baseline forbids %s', (_case, spec, annotations, expected) => {
  const found = violationsOf({ level: 'baseline', minor: Infinity }, podOf(spec, annotations));
  expect(found.map(({ reason, detail }) => `${reason} (${detail})`)).toEqual([expected]);
});

test.each<[string, object, string[]]>([
  ['nothing of a hardened pod', { containers: [container(GOOD)] }, []],
  ['silence', {}, ['allowPrivilegeEscalation != false', 'unrestricted capabilities', 'runAsNonRoot != true', 'seccompProfile']],
  ['root', { containers: [container({ ...GOOD, runAsUser: 0 })] }, ['runAsUser=0']],
  ['root, but in a user namespace', { hostUsers: false, containers: [container({ ...GOOD, runAsUser: 0 })] }, []],
  ['added capabilities', { containers: [container({ ...GOOD, capabilities: { drop: ['ALL'], add: ['CHOWN'] } })] }, ['unrestricted capabilities']],
  [
    'volumes of other types',
    {
      containers: [container(GOOD)],
      volumes: [
        { name: 'v', nfs: {} },
        { name: 'w', emptyDir: {} },
      ],
    },
    ['restricted volume types'],
  ],
  ['of Windows pods only what there is on Windows', { os: { name: 'windows' }, securityContext: { runAsNonRoot: true } }, []],
])('the restricted standard forbids %s', (_case, spec, expected) => {
  expect(violationsOf({ level: 'restricted', minor: Infinity }, podOf(spec)).map(({ reason }) => reason)).toEqual(expected);
});

test('standards are as they were in the version that is asked for', () => {
  const at = (minor: number, spec: object): string[] =>
    violationsOf({ level: 'restricted', minor }, podOf({ containers: [container(GOOD)], ...spec })).map(({ reason }) => reason);
  expect(at(33, { containers: [container(GOOD, PROBE)] })).toEqual([]);
  expect(at(34, { containers: [container(GOOD, PROBE)] })).toEqual(['probe or lifecycle host']);
  expect(at(22, { securityContext: { runAsUser: 0 } })).toEqual([]);
  expect(at(0, { securityContext: { seccompProfile: { type: 'Unconfined' } }, volumes: [{ name: 'h', hostPath: {} }] })).toEqual(['restricted volume types']);
});

async function pluginFor(labels: Record<string, string>, ...pods: object[]): Promise<AdmissionPlugin> {
  const environment = testEnvironment();
  await environment.client.resource('', 'namespaces').create('', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n', labels } });
  for (const pod of pods) await environment.client.resource('', 'pods').create('n', pod as never);
  return podSecurity(environment);
}
const plain = { spec: { containers: [container()] } };
const named = (name: string, more: object = {}): object => ({ metadata: { name, namespace: 'n', ...more }, ...plain });
const update = (spec: object): TestedWrite =>
  writeOf('pods', { spec: { ...plain.spec, ...spec } }, { operation: 'UPDATE', oldObject: writeOf('pods', plain).object });

describe('a namespace', () => {
  test('refuses, records and warns', async () => {
    const plugin = await pluginFor({ [label('enforce')]: 'baseline', [label('audit')]: 'restricted' });
    const refused = writeOf('pods', { spec: { containers: [container()], hostPID: true } });
    await expect(admit(plugin, refused)).rejects.toThrow('pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)');
    expect(refused.warnings).toEqual([]);
    const admitted = writeOf('pods', plain);
    await admit(plugin, admitted);
    expect(admitted.auditAnnotations[label('enforce-policy')]).toBe('baseline:latest');
    expect(admitted.auditAnnotations[label('audit-violations')]).toMatch(/^would violate PodSecurity "restricted:latest": allowPrivilegeEscalation/);
  });

  test('only warns of templates', async () => {
    const plugin = await pluginFor({ [label('enforce')]: 'restricted' });
    for (const [target, object] of [
      ['deployments.apps', { spec: { template: plain } }],
      ['cronjobs.batch', { spec: { jobTemplate: { spec: { template: plain } } } }],
      ['podtemplates', { template: plain }],
    ] as const) {
      const write = writeOf(target, object);
      await admit(plugin, write);
      expect(write.warnings).toEqual([expect.stringMatching(/^would violate PodSecurity "restricted:latest": /)]);
    }
  });

  test('looks at a changed pod where images change or ephemeral containers come', async () => {
    const plugin = await pluginFor({ [label('enforce')]: 'restricted' });
    await admit(plugin, update({ activeDeadlineSeconds: 1 }));
    await expect(admit(plugin, update({ containers: [{ ...container(), image: 'other' }] }))).rejects.toThrow('violates PodSecurity');
    await expect(admit(plugin, update({ ephemeralContainers: [container()] }))).rejects.toThrow('violates PodSecurity');
  });

  test('has labels that make sense, and tells which pods a stricter one would not let in', async () => {
    const plugin = await pluginFor({}, named('b'), named('a'), named('r', { ownerReferences: [{ controller: true, uid: 'u' }] }));
    const wrong = { metadata: { name: 'n', labels: { [label('enforce')]: 'x' } } };
    await expect(admit(plugin, writeOf('namespaces', wrong))).rejects.toThrow(
      'Namespace "n" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
    );
    await admit(plugin, writeOf('namespaces', wrong, { operation: 'UPDATE', oldObject: writeOf('namespaces', wrong).object }));
    const strict = writeOf(
      'namespaces',
      { metadata: { name: 'n', labels: { [label('enforce')]: 'restricted' } } },
      { operation: 'UPDATE', oldObject: writeOf('namespaces', {}).object },
    );
    await admit(plugin, strict);
    expect(strict.warnings).toEqual([
      'existing pods in namespace "n" violate the new PodSecurity enforce level "restricted:latest"',
      'a (and 2 other pods): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
    ]);
  });
});

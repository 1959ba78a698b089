import { testWrite } from '../../testing/kind-tester.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../encoding/json-types.ts';
import type { Pod } from '../../facts/types/core-v1.ts';
import { pods } from './pod.ts';
import { computeQosClass } from './qos.ts';
import { createErrors, decodePod, newPod } from './test-pods.ts';

const app = { name: 'app', image: 'app:1' };
const withContainer = (fields: JsonObject): JsonObject => ({ containers: [{ ...app, ...fields }] });
const withVolume = (fields: JsonObject): JsonObject => ({ serviceAccountName: 'default', volumes: [{ name: 'v', ...fields }] });

describe('defaults', () => {
  it('fill in the whole tail of a pod', () => {
    expect(decodePod({}).spec).toEqual({
      containers: [
        { ...app, resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', imagePullPolicy: 'IfNotPresent' },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    });
  });

  it.each([
    ['app', 'Always'],
    ['app:latest', 'Always'],
    ['registry.example:5000/a/b', 'Always'],
    ['localhost/app', 'Always'],
    ['app:1', 'IfNotPresent'],
    ['App', 'IfNotPresent'],
    ['', 'IfNotPresent'],
    [`app@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    ['a'.repeat(64), 'IfNotPresent'],
    ['registry.example:5000/a:b:c', 'IfNotPresent'],
  ])('pull %j %s', (image, policy) => {
    expect(decodePod(withContainer({ image })).spec.containers![0]!.imagePullPolicy).toBe(policy);
  });

  it('request what is limited, to a thousandth', () => {
    const { resources } = decodePod(withContainer({ resources: { limits: { cpu: '1', memory: '100u' }, requests: { cpu: '500m' } } })).spec.containers![0]!;
    expect(resources).toEqual({ limits: { cpu: '1', memory: '1m' }, requests: { cpu: '500m', memory: '1m' } });
  });

  it('derive a pod’s own requests from its containers', () => {
    const spec = { ...withContainer({ resources: { requests: { cpu: '250m' } } }), resources: { limits: { cpu: '1', memory: '1Gi' } } };
    expect(decodePod(spec).spec.resources!.requests).toEqual({ cpu: '250m', memory: '1Gi' });
  });

  it('give volumes, probes and ports theirs', () => {
    const { spec } = decodePod({
      hostNetwork: true,
      volumes: [
        { name: 'a' },
        { name: 'b', hostPath: { path: '/' } },
        { name: 'c', secret: { secretName: 's' } },
        { name: 'd', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      ],
      containers: [{ ...app, ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 80 } } }],
    });
    expect(spec.volumes).toEqual([
      { name: 'a', emptyDir: {} },
      { name: 'b', hostPath: { path: '/', type: '' } },
      { name: 'c', secret: { secretName: 's', defaultMode: 420 } },
      { name: 'd', projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: 't' } }], defaultMode: 420 } },
    ]);
    expect(spec.containers![0]!.ports).toEqual([{ hostPort: 80, containerPort: 80, protocol: 'TCP' }]);
    expect(spec.containers![0]!.livenessProbe).toEqual({
      httpGet: { path: '/', port: 80, scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
  });

  it('settle aliases and impossible grace', () => {
    const { spec, metadata } = decodePod(
      { serviceAccount: 'robot', terminationGracePeriodSeconds: -5 },
      { annotations: { 'pod.beta.kubernetes.io/init-containers': '[]', a: 'b' } },
    );
    expect(spec).toMatchObject({ serviceAccountName: 'robot', serviceAccount: 'robot', terminationGracePeriodSeconds: 1 });
    expect(metadata.annotations).toEqual({ a: 'b' });
  });
});

describe('creation', () => {
  it('sets phase, class and generation, and forgets what was sent', () => {
    const pod = decodePod({}, {}, { phase: 'Running', podIP: '10.0.0.1' });
    pods.prepareForCreate!(testWrite(pod));
    expect(pod.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(pod.metadata.generation).toBe(1);
  });

  it('keeps a class that was sent', () => {
    const pod = decodePod({}, {}, { qosClass: 'Guaranteed' });
    pods.prepareForCreate!(testWrite(pod));
    expect(pod.status.qosClass).toBe('Guaranteed');
  });

  it('blocks a gated pod from scheduling', () => {
    expect(newPod({ schedulingGates: [{ name: 'a/b' }] }).status.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
    ]);
  });

  it('writes label keys into selectors', () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      matchLabelKeys: ['hash', 'absent'],
    };
    const { spec } = newPod({ topologySpreadConstraints: [constraint] }, { labels: { app: 'web', hash: 'x' } });
    expect(spec.topologySpreadConstraints![0]!.labelSelector!.matchExpressions).toEqual([{ key: 'hash', operator: 'In', values: ['x'] }]);
  });

  it('takes AppArmor profiles over from annotations, with a warning', () => {
    const warnings: string[] = [];
    const pod = newPod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/app': 'localhost/tight' } }, warnings);
    expect(pod.spec.containers![0]!.securityContext!.appArmorProfile).toEqual({ type: 'Localhost', localhostProfile: 'tight' });
    expect(warnings).toEqual([
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/app]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ]);
  });

  it('drops fields of features that are off', () => {
    const { spec } = newPod({ schedulingGroup: { podGroupName: 'g' }, ...withContainer({ lifecycle: { stopSignal: 'SIGTERM' } }) });
    expect(spec.schedulingGroup).toBeUndefined();
    expect(spec.containers![0]!.lifecycle).toBeUndefined();
  });
});

const resources = (limits: JsonObject, requests: JsonObject = limits): JsonObject => withContainer({ resources: { limits, requests } });

describe('quality of service', () => {
  it.each<[JsonObject, string]>([
    [{}, 'BestEffort'],
    [resources({ cpu: '1', memory: '1Gi' }), 'Guaranteed'],
    [resources({ cpu: '1' }), 'Burstable'],
    [resources({ cpu: '1', memory: '1Gi' }, { cpu: '500m', memory: '1Gi' }), 'Burstable'],
    [resources({ 'example.com/gpu': '1' }), 'BestEffort'],
    [{ resources: { limits: { cpu: '1', memory: '1Gi' } } }, 'Guaranteed'],
  ])('of %j is %s', (spec, expected) => {
    expect(computeQosClass(decodePod(spec).spec, pods.settings)).toBe(expected);
  });
});

describe('validation', () => {
  it('lets an ordinary pod pass', () => {
    expect(
      createErrors(withContainer({ ports: [{ name: 'http', containerPort: 80 }], resources: { limits: { cpu: '1' } }, env: [{ name: 'A B', value: 'x' }] })),
    ).toEqual([]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['no containers', { containers: [] }, ['spec.containers: Required value']],
    ['a container without name or image', { containers: [{}] }, ['spec.containers[0].name: Required value', 'spec.containers[0].image: Required value']],
    ['two of one name', { containers: [app, app] }, ['spec.containers[1].name: Duplicate value: "app"']],
    [
      'bad ports',
      withContainer({ ports: [{ name: 'a--', containerPort: 70000 }] }),
      [
        'spec.containers[0].ports[0].name: Invalid value: "a--": must not contain consecutive hyphens',
        'spec.containers[0].ports[0].name: Invalid value: "a--": must not begin or end with a hyphen',
        'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'a port of the host twice',
      {
        containers: [
          { ...app, ports: [{ containerPort: 1, hostPort: 9 }] },
          { ...app, name: 'b', ports: [{ containerPort: 2, hostPort: 9 }] },
        ],
      },
      ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//9"'],
    ],
    [
      'a variable from nowhere',
      withContainer({ env: [{ name: 'A', valueFrom: {} }] }),
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ],
    ],
    [
      'a field that pods do not tell',
      withContainer({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }] }),
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      ],
    ],
    [
      'a mount of nothing',
      withContainer({ volumeMounts: [{ name: 'x', mountPath: '/x', subPath: '../y' }] }),
      ['spec.containers[0].volumeMounts[0].name: Not found: "x"', 'spec.containers[0].volumeMounts.subPath: Invalid value: "../y": must not contain \'..\''],
    ],
    [
      'more wanted than allowed',
      withContainer({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
      ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'an odd resource',
      withContainer({ resources: { limits: { pods: '1' } } }),
      [
        'spec.containers[0].resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
        'spec.containers[0].resources.requests[pods]: Invalid value: "pods": must be a standard resource for containers',
      ],
    ],
    [
      'a claim that the pod does not have',
      withContainer({ resources: { claims: [{ name: 'gpu' }] } }),
      ['spec.containers[0].resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty'],
    ],
    [
      'two handlers',
      withContainer({ livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 0 } } }),
      ['spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type'],
    ],
    [
      'a liveness that must succeed twice',
      withContainer({ livenessProbe: { grpc: { port: 1 }, successThreshold: 2 } }),
      ['spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
    ],
    [
      'a sleep beyond the grace',
      withContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
      ['spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)'],
    ],
    [
      'privileges',
      withContainer({ securityContext: { privileged: true } }),
      ['spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'],
    ],
    [
      'a user beyond numbers',
      { securityContext: { runAsUser: -1 } },
      ['spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    ],
    [
      'probes of what runs once',
      { initContainers: [{ name: 'init', image: 'i', startupProbe: { grpc: { port: 1 } } }] },
      ['spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always'],
    ],
    [
      'ephemeral containers',
      { ephemeralContainers: [{ name: 'debug', image: 'd', ports: [{ containerPort: 1 }] }] },
      [
        'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
        'spec.ephemeralContainers: Forbidden: cannot be set on create',
      ],
    ],
    ['two sources', withVolume({ emptyDir: {}, hostPath: { path: '' } }), ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type']],
    [
      'a claim of its own making',
      {
        volumes: [
          { name: 'a', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } } } },
          { name: 'b', persistentVolumeClaim: { claimName: 'web-a' } },
        ],
      },
      ['spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-a": must not reference a PVC that gets created for an ephemeral volume'],
    ],
    [
      'paths that meet',
      withVolume({
        projected: { sources: [{ secret: { name: 's', items: [{ key: 'k', path: 'p' }] } }, { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } }] },
      }),
      ['spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths'],
    ],
    [
      'a token without an account',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      ['spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set'],
    ],
    ['no names for names', { dnsPolicy: 'None' }, ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
    [
      'an affinity with no weight',
      { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'zone' } }] } } },
      ['spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100'],
    ],
    [
      'a spread that repeats',
      { topologySpreadConstraints: [1, 2].map((maxSkew) => ({ maxSkew, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' })) },
      ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"'],
    ],
    [
      'a bound pod with gates',
      { nodeName: 'n', schedulingGates: [{ name: 'g' }] },
      ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [
      'Linux on Windows',
      { os: { name: 'windows' }, hostPID: true, securityContext: { fsGroup: 1 } },
      ['spec.hostPID: Forbidden: cannot be set for a windows pod', 'spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod'],
    ],
    ['users of its own with the host’s network', { hostUsers: false, hostNetwork: true }, ['spec.hostNetwork: Forbidden: when `hostUsers` is false']],
    [
      'a claim by two names',
      { resourceClaims: [{ name: 'c', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] },
      [
        'spec.resourceClaims[0]: Invalid value: {"Name":"c","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      ],
    ],
    [
      'an overfull pod',
      { ...withContainer({ resources: { requests: { cpu: '2' } } }), resources: { requests: { cpu: '1' } } },
      ['spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2'],
    ],
  ])('refuses %s', (_what, spec, errors) => {
    expect(createErrors(spec)).toEqual(errors);
  });

  it('holds annotations against fields', () => {
    const seccomp = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
    expect(createErrors({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, { annotations: seccomp })).toEqual([
      'spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
    ]);
    expect(createErrors({}, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '+1' } })).toEqual([
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
    ]);
  });
});

const grace = (spec: JsonObject, phase: string, requested?: number): number =>
  pods.deletion!.gracePeriodSeconds!(decodePod(spec, {}, { phase }) as Pod, requested);

describe('deletion', () => {
  it('is graceful only for what a node still runs', () => {
    expect(grace({}, 'Pending')).toBe(0);
    expect(grace({ nodeName: 'n' }, 'Running')).toBe(30);
    expect(grace({ nodeName: 'n' }, 'Running', 5)).toBe(5);
    expect(grace({ nodeName: 'n' }, 'Succeeded', 5)).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import type { Binding, Pod, Toleration } from '../apis/facts/types/core-v1.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { type TestEnvironment, admit, testEnvironment, writeOf } from './testing/attributes.ts';
import { mergeTolerations } from './toleration-merge.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

async function withObjects(group: string, plural: string, ...objects: object[]): Promise<TestEnvironment> {
  const environment = testEnvironment();
  for (const object of objects) await environment.client.resource(group, plural).create('', { kind: '', apiVersion: '', ...object } as never);
  return environment;
}

describe('DefaultTolerationSeconds', () => {
  const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  const unreachable = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 301 };

  test.each<[Toleration[] | undefined, Toleration[]]>([
    [undefined, [notReady, unreachable]],
    [[{ key: notReady.key, operator: 'Exists' }], [{ key: notReady.key, operator: 'Exists' }, unreachable]],
    [[{ operator: 'Exists' }], [{ operator: 'Exists' }]],
    [[{ operator: 'Exists', effect: 'NoSchedule' }], [{ operator: 'Exists', effect: 'NoSchedule' }, notReady, unreachable]],
  ])('%j becomes %j', async (tolerations, expected) => {
    const admitted = await admit<Pod>(defaultTolerationSeconds(testEnvironment()), writeOf('pods', pod({ tolerations })));
    expect(admitted.spec.tolerations).toEqual(expected);
  });
});

describe('Priority', () => {
  const classes = (): Promise<TestEnvironment> =>
    withObjects(
      'scheduling.k8s.io',
      'priorityclasses',
      { metadata: { name: 'high' }, value: 9, preemptionPolicy: 'Never' },
      { metadata: { name: 'usual' }, value: 5, globalDefault: true },
    );

  test.each([
    [{ priorityClassName: 'high' }, { priorityClassName: 'high', priority: 9, preemptionPolicy: 'Never' }],
    [{}, { priorityClassName: 'usual', priority: 5 }],
  ])('%j becomes %j', async (spec, expected) => {
    const { containers: _, ...rest } = (await admit<Pod>(priority(await classes()), writeOf('pods', pod(spec)))).spec;
    expect(rest).toEqual(expected);
  });

  test('is zero where no class is the default', async () => {
    const { spec } = await admit<Pod>(priority(testEnvironment()), writeOf('pods', pod()));
    expect(spec).toEqual({ containers: [], priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  });

  test.each([
    [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    [
      { priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 5 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'X' },
      'the string value of PreemptionPolicy (X) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    ],
  ])('%j is refused', async (spec, message) => {
    await expect(admit(priority(await classes()), writeOf('pods', pod(spec)))).rejects.toThrow(`pods "x" is forbidden: ${message}`);
  });

  test('stays on update', async () => {
    const write = writeOf('pods', pod(), { operation: 'UPDATE', oldObject: writeOf('pods', pod({ priority: 3, preemptionPolicy: 'Never' })).object });
    expect((await admit<Pod>(priority(await classes()), write)).spec).toMatchObject({ priority: 3, preemptionPolicy: 'Never' });
  });

  test('has one default class at most', async () => {
    const plugin = priority(await classes());
    const another = { metadata: { name: 'another' }, value: 1, globalDefault: true };
    const target = 'priorityclasses.scheduling.k8s.io';
    await expect(admit(plugin, writeOf(target, another))).rejects.toThrow(
      'priorityclasses.scheduling.k8s.io "another" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
    );
    await admit(plugin, writeOf(target, { ...another, metadata: { name: 'usual' } }, { operation: 'UPDATE' }));
  });
});

describe('RuntimeClass', () => {
  const overhead = { podFixed: { cpu: '1000m' } };
  const scheduling = { nodeSelector: { k: 'v' }, tolerations: [{ key: 'rt', operator: 'Exists' }] };
  const classes = (): Promise<TestEnvironment> =>
    withObjects('node.k8s.io', 'runtimeclasses', { metadata: { name: 'rt' }, overhead, scheduling }, { metadata: { name: 'plain' } });

  test('brings overhead, node selector and tolerations', async () => {
    const { spec } = await admit<Pod>(
      runtimeClass(await classes()),
      writeOf('pods', pod({ runtimeClassName: 'rt', nodeSelector: { a: 'b' }, overhead: { cpu: '1' } })),
    );
    expect(spec).toMatchObject({ overhead: { cpu: '1000m' }, nodeSelector: { a: 'b', k: 'v' }, tolerations: scheduling.tolerations });
  });

  test.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [{ runtimeClassName: 'rt', overhead: { cpu: '2' } }, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"],
    [{ runtimeClassName: 'rt', nodeSelector: { k: 'w' } }, 'conflict: runtimeClass.scheduling.nodeSelector[k] = v; pod.spec.nodeSelector[k] = w'],
    [{ runtimeClassName: 'plain', overhead: { cpu: '2' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    [{ overhead: { cpu: '2' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
  ])('%j is refused', async (spec, message) => {
    await expect(admit(runtimeClass(await classes()), writeOf('pods', pod(spec)))).rejects.toThrow(`pods "x" is forbidden: ${message}`);
  });
});

test.each<[string, Toleration[], Toleration[], Toleration[]]>([
  ['equal ones once', [{ key: 'a', operator: 'Exists' }], [{ key: 'a', operator: 'Exists' }], [{ key: 'a', operator: 'Exists' }]],
  ['the wider one', [{ key: 'a', operator: 'Equal', value: 'v' }], [{ key: 'a', operator: 'Exists' }], [{ key: 'a', operator: 'Exists' }]],
  ['all keys', [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }], [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  [
    'both where the time differs',
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }],
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 }],
  ],
])('merged tolerations keep %s', (_case, first, second, merged) => {
  expect(mergeTolerations(first, second)).toEqual(merged);
});

describe('PodTopologyLabels', () => {
  const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
  const nodes = (): Promise<TestEnvironment> => withObjects('', 'nodes', { metadata: { name: 'node', labels: { ...labels, other: 'o' } } });

  test('go to a pod that is made on a node, and to a binding', async () => {
    const plugin = podTopologyLabels(await nodes());
    const made = await admit<Pod>(plugin, writeOf('pods', pod({ nodeName: 'node' }, { labels: { a: 'b', 'topology.kubernetes.io/zone': 'mine' } })));
    expect(made.metadata.labels).toEqual({ a: 'b', ...labels });
    const bound = await admit<Binding>(plugin, writeOf('pods/binding', { target: { kind: 'Node', name: 'node' } }));
    expect(bound.metadata.labels).toEqual(labels);
  });

  test.each([
    ['pods', pod()],
    ['pods', pod({ nodeName: 'gone' })],
    ['pods/binding', { target: { kind: 'Other', name: 'node' } }],
  ])('%s %j stays as it is', async (target, object) => {
    expect((await admit<Pod>(podTopologyLabels(await nodes()), writeOf(target, object))).metadata.labels).toBeUndefined();
  });
});

describe('changes of a pod on a node', () => {
  const resized = (spec: object): object => pod({ nodeName: 'node', ...spec }, { generation: 2 });
  const update = (target: string, spec: object, old: object = {}): ReturnType<typeof writeOf> =>
    writeOf(target, resized(spec), { operation: 'UPDATE', oldObject: writeOf('pods', pod({ nodeName: 'node', ...old }, { generation: 1 })).object });
  const node = (more: object = {}, status: object = {}): object => ({ metadata: { name: 'node', ...more }, status });
  const requests = (cpu: string, memory: string): object => ({ containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] });

  test('must fit it', async () => {
    const plugin = podResizeValidator(await withObjects('', 'nodes', node({}, { allocatable: { cpu: '2', memory: '1Gi' } })));
    await admit(plugin, update('pods/resize', requests('2', '1Gi')));
    await expect(admit(plugin, update('pods/resize', { ...requests('2', '2Gi'), overhead: { cpu: '100m' } }))).rejects.toMatchObject({
      message:
        'pods "x" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824',
      status: { details: { causes: [{ reason: 'NodeCapacity' }] } },
    });
  });

  test('are resizes only where the node can', async () => {
    const plugin = podResizeValidator(await withObjects('', 'nodes', node({ labels: { 'kubernetes.io/os': 'windows' } })));
    await expect(admit(plugin, update('pods/resize', {}))).rejects.toThrow('pod resize is only supported on linux nodes, node "node" is "windows"');
    await expect(admit(podResizeValidator(testEnvironment()), update('pods/resize', {}))).rejects.toThrow('node "node" not found');
  });

  test('need features that the node declares', async () => {
    const environment = await withObjects('', 'nodes', node({}, { declaredFeatures: ['InPlacePodVerticalScalingInitContainers'] }));
    const plugin = nodeDeclaredFeatureValidator(environment);
    const init = (cpu: string): object => ({ initContainers: [{ name: 'i', resources: { requests: { cpu } } }] });
    await admit(plugin, update('pods/resize', init('2'), init('1')));
    await expect(admit(plugin, update('pods/resize', { resources: { requests: { cpu: '1' } } }))).rejects.toThrow(
      'pods "x" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "node"',
    );
  });
});

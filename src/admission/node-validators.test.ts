import { expect, test } from 'vitest';
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { type TestedWrite, admit, environmentWith, testEnvironment, writeOf } from './testing/attributes.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

const resized = (spec: object): object => pod({ nodeName: 'node', ...spec }, { generation: 2 });
const update = (target: string, spec: object, old: object = {}): TestedWrite =>
  writeOf(target, resized(spec), { operation: 'UPDATE', oldObject: writeOf('pods', pod({ nodeName: 'node', ...old }, { generation: 1 })).object });
const node = (more: object = {}, status: object = {}): object => ({ metadata: { name: 'node', ...more }, status });
const requests = (cpu: string, memory: string): object => ({ containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] });
const init = (cpu: string): object => ({ initContainers: [{ name: 'i', resources: { requests: { cpu } } }] });

test('must fit it', async () => {
  const plugin = podResizeValidator(await environmentWith('', 'nodes', node({}, { allocatable: { cpu: '2', memory: '1Gi' } })));
  await admit(plugin, update('pods/resize', requests('2', '1Gi')));
  await expect(admit(plugin, update('pods/resize', { ...requests('2', '2Gi'), overhead: { cpu: '100m' } }))).rejects.toMatchObject({
    message:
      'pods "x" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824',
    status: { details: { causes: [{ reason: 'NodeCapacity' }] } },
  });
});

test('are resizes only where the node can', async () => {
  const plugin = podResizeValidator(await environmentWith('', 'nodes', node({ labels: { 'kubernetes.io/os': 'windows' } })));
  await expect(admit(plugin, update('pods/resize', {}))).rejects.toThrow('pod resize is only supported on linux nodes, node "node" is "windows"');
  await expect(admit(podResizeValidator(testEnvironment()), update('pods/resize', {}))).rejects.toThrow('node "node" not found');
});

test('need features that the node declares', async () => {
  const environment = await environmentWith('', 'nodes', node({}, { declaredFeatures: ['InPlacePodVerticalScalingInitContainers'] }));
  const plugin = nodeDeclaredFeatureValidator(environment);
  await admit(plugin, update('pods/resize', init('2'), init('1')));
  await expect(admit(plugin, update('pods/resize', { resources: { requests: { cpu: '1' } } }))).rejects.toThrow(
    'pods "x" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "node"',
  );
});

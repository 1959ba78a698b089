import { expect, test } from 'vitest';
import type { Binding, Pod } from '../apis/facts/types/core-v1.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { type TestEnvironment, admit, environmentWith, writeOf } from './testing/attributes.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
const nodes = (): Promise<TestEnvironment> => environmentWith('', 'nodes', { metadata: { name: 'node', labels: { ...labels, other: 'o' } } });

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

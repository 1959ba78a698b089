import { expect, test } from 'vitest';
import type { Pod } from '../apis/facts/types/core-v1.ts';
import { runtimeClass } from './runtime-class.ts';
import { type TestEnvironment, admit, environmentWith, writeOf } from './testing/attributes.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

const overhead = { podFixed: { cpu: '1000m' } };
const scheduling = { nodeSelector: { k: 'v' }, tolerations: [{ key: 'rt', operator: 'Exists' }] };
const classes = (): Promise<TestEnvironment> =>
  environmentWith('node.k8s.io', 'runtimeclasses', { metadata: { name: 'rt' }, overhead, scheduling }, { metadata: { name: 'plain' } });

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

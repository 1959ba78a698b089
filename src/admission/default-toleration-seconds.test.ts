import { expect, test } from 'vitest';
import type { Pod, Toleration } from '../apis/facts/types/core-v1.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { admit, testEnvironment, writeOf } from './testing/attributes.ts';

const pod = (spec: object = {}, metadata: object = {}): object => ({ metadata: { name: 'x', namespace: 'n', ...metadata }, spec: { containers: [], ...spec } });

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

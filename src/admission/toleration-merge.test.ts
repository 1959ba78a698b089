import { expect, test } from 'vitest';
import type { Toleration } from '../apis/facts/types/core-v1.ts';
import { mergeTolerations } from './toleration-merge.ts';

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

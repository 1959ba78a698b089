import { expect, test } from 'vitest';
import type { Node } from '../apis/facts/types/core-v1.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';
import { admit, writeOf } from './testing/attributes.ts';

test('TaintNodesByCondition', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  expect((await admit<Node>(taintNodesByCondition, writeOf('nodes', { spec: {} }))).spec.taints).toEqual([taint]);
  expect((await admit<Node>(taintNodesByCondition, writeOf('nodes', { spec: { taints: [{ ...taint, value: 'v' }] } }))).spec.taints).toHaveLength(1);
});

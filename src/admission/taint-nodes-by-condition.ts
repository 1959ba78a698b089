import type { Node } from '../apis/facts/types/core-v1.ts';
import { type AdmissionPlugin, CREATE } from './plugin.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const EFFECT = 'NoSchedule';

/** A new node takes no pods until its controller has seen it ready (plugin/pkg/admission/nodetaint). */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: CREATE,
  targets: ['nodes'],
  mutate({ object }) {
    const { spec } = object as Node;
    const taints = spec.taints ?? [];
    if (!taints.some(({ key, effect }) => key === NOT_READY && effect === EFFECT)) spec.taints = [...taints, { key: NOT_READY, effect: EFFECT }];
  },
};

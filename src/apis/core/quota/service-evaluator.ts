import type { Service } from '../../facts/types/core-v1.ts';
import { type Amounts, wholeNumber } from './amounts.ts';
import { type Evaluator, NO_SCOPE, countName } from './evaluator.ts';

const COUNT = countName({ group: '', resource: 'services' });
const NAMES = new Set([COUNT, 'services', 'services.nodeports', 'services.loadbalancers']);

export const serviceEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => NAMES.has(name),
  usage: (object) => usage(object as Service),
  isInScope: NO_SCOPE,
  isReleased: (object, old) => countedType(object as Service) !== countedType(old as Service),
};

/** The others cost nothing but themselves. */
const countedType = ({ spec: { type } }: Service): string | undefined => (type === 'NodePort' || type === 'LoadBalancer' ? type : undefined);

function usage({ spec }: Service): Amounts {
  return new Map([
    [COUNT, wholeNumber(1)],
    ['services', wholeNumber(1)],
    ['services.loadbalancers', wholeNumber(spec.type === 'LoadBalancer' ? 1 : 0)],
    ['services.nodeports', wholeNumber(nodePortCount(spec))],
  ]);
}

/** By the ports that will get one, since admission comes before allocation. */
function nodePortCount({ type, ports, allocateLoadBalancerNodePorts }: Service['spec']): number {
  const all = ports ?? [];
  if (type === 'NodePort') return all.length;
  if (type !== 'LoadBalancer') return 0;
  return allocateLoadBalancerNodePorts === false ? all.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length : all.length;
}

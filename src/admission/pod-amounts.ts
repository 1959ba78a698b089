import { aggregateContainers } from '../apis/core/pod/resource-lists.ts';
import type { PodSpec } from '../apis/facts/types/core-v1.ts';
import { type Quantity, parseQuantity } from '../api/quantity.ts';

/** Of what the pod as a whole asks for, this takes the place of its containers' sums (KEP-2837). */
const POD_LEVEL = ['cpu', 'memory'];

/** What a pod needs by its spec, without its runtime's overhead. */
export function podAmounts({ resources, ...spec }: PodSpec, side: 'requests' | 'limits'): Map<string, Quantity> {
  const amounts = aggregateContainers(spec, side);
  for (const name of POD_LEVEL) {
    const whole = resources?.[side]?.[name];
    if (whole !== undefined) amounts.set(name, parseQuantity(whole));
  }
  return amounts;
}

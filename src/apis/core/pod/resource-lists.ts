import { type Quantity, addQuantities, compareQuantities, formatQuantity, parseQuantity, quantityAt } from '../../../api/quantity.ts';
import type { Container, PodSpec } from '../../facts/types/core-v1.ts';
import { isSidecar } from './containers-of.ts';

/** Amounts by resource name, as text. */
export type ResourceList = Record<string, string>;

/** Amounts finer than a thousandth are rounded up to one: no resource is counted finer (SetDefaults_ResourceList). */
export function roundToThousandths(list: ResourceList | undefined): void {
  if (!list) return;
  for (const name of Object.keys(list)) {
    const text = list[name]!;
    // Only these forms can be finer.
    if (!/[nu]$|e-/i.test(text)) continue;
    const quantity = parseQuantity(text);
    if (quantity.exponent < -3) list[name] = formatQuantity({ unscaled: quantityAt(quantity, -3), exponent: -3, format: quantity.format });
  }
}

/**
 * What the containers together need at any moment: all that run side by side, or the most that an init container needs beside the sidecars started
 * before it (component-helpers/resource AggregateContainerRequests and -Limits).
 */
export function aggregateContainers(spec: PodSpec, side: 'requests' | 'limits'): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const initial = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) addTo(total, amounts(container, side));
  for (const container of spec.initContainers ?? []) {
    const own = amounts(container, side);
    if (isSidecar(container)) {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(initial, sidecars);
    } else {
      const together = new Map(own);
      addTo(together, sidecars);
      raiseTo(initial, together);
    }
  }
  raiseTo(total, initial);
  return total;
}

const amounts = ({ resources }: Container, side: 'requests' | 'limits'): Map<string, Quantity> =>
  new Map(Object.entries(resources[side] ?? {}).map(([name, text]) => [name, parseQuantity(text)]));

function addTo(sum: Map<string, Quantity>, more: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of more) {
    const present = sum.get(name);
    sum.set(name, present ? addQuantities(present, quantity) : quantity);
  }
}

function raiseTo(most: Map<string, Quantity>, candidates: ReadonlyMap<string, Quantity>): void {
  for (const [name, quantity] of candidates) {
    const present = most.get(name);
    if (!present || compareQuantities(quantity, present) > 0) most.set(name, quantity);
  }
}

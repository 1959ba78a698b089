import type { KindSettings } from '../../../registry/write.ts';
import { type Quantity, addQuantities, compareQuantities, parseQuantity, quantitySign } from '../../../api/quantity.ts';
import type { Pod, PodSpec, ResourceRequirements } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

/** Resources by which a pod's quality of service is told. */
const COMPUTE = ['cpu', 'memory'];

/** As stored or sent, or as computed for pods that come without it, or without any status. */
export const qosClassOf = (pod: Pod, settings: KindSettings): string => pod.status?.qosClass || computeQosClass(pod.spec, settings);

/**
 * Guaranteed where every container's limits are set and equal to its requests; BestEffort where nothing is set. What the pod as a whole asks for, if it
 * does, counts instead of its containers (pkg/apis/core/helper/qos).
 */
export function computeQosClass(spec: PodSpec, settings: KindSettings): QosClass {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  const isLimited =
    spec.resources && isFeatureOn(settings, 'PodLevelResources') ? addPodResources(spec.resources, requests, limits) : addContainers(spec, requests, limits);
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isGuaranteed =
    isLimited &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => limits.has(name) && compareQuantities(limits.get(name)!, amount) === 0);
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

function addPodResources(resources: ResourceRequirements, requests: Map<string, Quantity>, limits: Map<string, Quantity>): boolean {
  add(resources.requests, requests);
  return !resources.limits || add(resources.limits, limits);
}

function addContainers(spec: PodSpec, requests: Map<string, Quantity>, limits: Map<string, Quantity>): boolean {
  let areAllLimited = true;
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    add(resources.requests, requests);
    if (!add(resources.limits, limits)) areAllLimited = false;
  }
  return areAllLimited;
}

/** Adds what is above zero; answers whether that was all that counts. */
function add(list: Record<string, string> | undefined, sums: Map<string, Quantity>): boolean {
  let count = 0;
  for (const name of COMPUTE) {
    const text = list?.[name];
    if (text === undefined) continue;
    const quantity = parseQuantity(text);
    if (quantitySign(quantity) <= 0) continue;
    const sum = sums.get(name);
    sums.set(name, sum ? addQuantities(sum, quantity) : quantity);
    count++;
  }
  return count === COMPUTE.length;
}

import type { KindSettings } from '../../../registry/write.ts';
import type { Container, ContainerStatus, Pod, PodAffinityTerm, PodSpec, ScopedResourceSelectorRequirement } from '../../facts/types/core-v1.ts';
import { computeQosClass } from '../pod/qos.ts';
import { type Quantity, addQuantities, compareQuantities, formatQuantity, parseQuantity, quantitySign } from '../../../api/quantity.ts';
import { aggregateContainers } from '../pod/resource-lists.ts';
import { type Amounts, amountsIn, sumOf, wholeNumber } from './amounts.ts';
import { type Evaluator, type MeasuredWrite, countName, matchesClass } from './evaluator.ts';

type Side = 'requests' | 'limits';

const COUNT = countName({ group: '', resource: 'pods' });
const REQUESTS = 'requests.';
const LIMITS = 'limits.';
const HUGE_PAGES = 'hugepages-';
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';

/** What quotas count of both requests and limits; a request goes by its bare name too. */
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES = new Set([COUNT, 'pods', ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name])]);

/** A quota of one of these makes every container say how much of it it wants. */
const DEMANDED = new Set(['cpu', 'memory'].flatMap((name) => [name, REQUESTS + name, LIMITS + name]));

/** Requests, limits and the number of pods that run (pkg/quota/v1/evaluator/core). */
export const podEvaluator = (now: () => Date, settings: KindSettings): Evaluator => ({
  handles,
  counts: (name) =>
    NAMES.has(name) || name.startsWith(HUGE_PAGES) || name.startsWith(REQUESTS + HUGE_PAGES) || (name.startsWith(REQUESTS) && isExtended(name, REQUESTS)),
  usage: (object) => podUsage(object as Pod, now()),
  isInScope: (scope, object) => isInScope(scope, object as Pod, settings),
  omission: (names, object) => omission(names, (object as Pod).spec),
  isReleased: (object, old) => hasEnded(object as Pod) && !hasEnded(old as Pod),
});

function handles({ operation, subresource, object, oldObject }: MeasuredWrite): boolean {
  if (subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  return operation === 'CREATE' || (operation === 'UPDATE' && hasDeadline(object as Pod) !== hasDeadline(oldObject as Pod));
}

/** Outside of Kubernetes' own names, or asked of a class of devices by its name. */
const isExtended = (name: string, prefix: string): boolean =>
  (name.includes('/') && !name.includes('kubernetes.io/')) || name.startsWith(prefix + DEVICE_CLASS);

const hasEnded = ({ status }: Pod): boolean => status.phase === 'Failed' || status.phase === 'Succeeded';
const hasDeadline = ({ spec }: Pod): boolean => spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;

/** One that has ended, or that its node should have ended long ago, is there but needs nothing. */
function podUsage(pod: Pod, now: Date): Amounts {
  const count: Amounts = new Map([[COUNT, wholeNumber(1)]]);
  if (hasEnded(pod) || isOverdue(pod, now)) return count;
  return sumOf(count, usageBySides(wholePod(pod, 'requests'), wholePod(pod, 'limits')));
}

function isOverdue({ metadata: { deletionTimestamp, deletionGracePeriodSeconds } }: Pod, now: Date): boolean {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now.getTime() > Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function usageBySides(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([['pods', wholeNumber(1)]]);
  for (const [name, quantity] of requests) {
    const isCompute = COMPUTE.includes(name) || name.startsWith(HUGE_PAGES);
    if (isCompute) usage.set(name, quantity);
    if (isCompute || (isExtended(name, '') && !name.startsWith(REQUESTS))) usage.set(REQUESTS + name, quantity);
  }
  for (const name of COMPUTE) {
    const limit = limits.get(name);
    if (limit) usage.set(LIMITS + name, limit);
  }
  return usage;
}

/** Of what the pod as a whole asks for, this takes the place of its containers' sums (KEP-2837). */
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith(HUGE_PAGES);

/** With what the runtime needs for itself; a side that has no limit gets none by that. */
function wholePod(pod: Pod, side: Side): Map<string, Quantity> {
  const amounts = aggregateContainers(specInForce(pod, side), side);
  for (const [name, whole] of amountsIn(pod.spec.resources?.[side])) if (isPodLevel(name)) amounts.set(name, whole);
  for (const [name, more] of amountsIn(pod.spec.overhead)) {
    const present = amounts.get(name);
    if (side === 'requests') amounts.set(name, present ? addQuantities(present, more) : more);
    else if (present && quantitySign(present) !== 0) amounts.set(name, addQuantities(present, more));
  }
  return amounts;
}

/** While a resize is under way, a container counts with the most of what it wants, what was set aside for it, and what it has (KEP-1287). */
function specInForce({ spec, status }: Pod, side: Side): PodSpec {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status;
  if (containerStatuses.length === 0 && initContainerStatuses.length === 0) return spec;
  const isInfeasible = conditions.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible');
  const inForce = (containers: Container[] | undefined | null, statuses: ContainerStatus[]): Container[] => {
    const byName = new Map(statuses.toReversed().map((container) => [container.name, container]));
    return (containers ?? []).map((container) => containerInForce(container, byName.get(container.name), side, isInfeasible));
  };
  return { ...spec, containers: inForce(spec.containers, containerStatuses), initContainers: inForce(spec.initContainers, initContainerStatuses) };
}

function containerInForce(container: Container, status: ContainerStatus | undefined, side: Side, isInfeasible: boolean): Container {
  const actual = status?.resources?.[side];
  const allocated = side === 'requests' ? status?.allocatedResources : undefined;
  if (!actual && !allocated) return container;
  const wanted = isInfeasible ? undefined : container.resources[side];
  return { ...container, resources: { ...container.resources, [side]: mostOf(wanted, actual, allocated) } };
}

function mostOf(...lists: (Record<string, string> | undefined)[]): Record<string, string> {
  const most = new Map<string, Quantity>();
  for (const [name, text] of lists.flatMap((list) => Object.entries(list ?? {}))) {
    const quantity = parseQuantity(text);
    const present = most.get(name);
    if (!present || compareQuantities(quantity, present) > 0) most.set(name, quantity);
  }
  return Object.fromEntries([...most].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function omission(names: readonly string[], spec: PodSpec): string | undefined {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  if (Object.keys(requests).length > 0 || Object.keys(limits).length > 0) return undefined;
  const demanded = names.filter((name) => DEMANDED.has(name)).toSorted();
  if (demanded.length === 0) return undefined;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name, resources }) => ({
    name,
    says: usageBySides(amountsIn(resources.requests), amountsIn(resources.limits)),
  }));
  const missing = demanded.flatMap((wanted) => {
    const silent = containers.filter(({ says }) => !says.has(wanted)).map(({ name }) => name);
    return silent.length === 0 ? [] : [`${wanted} for: ${[...new Set(silent)].toSorted().join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}

function isInScope(scope: ScopedResourceSelectorRequirement, pod: Pod, settings: KindSettings): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return hasDeadline(pod);
    case 'NotTerminating':
      return !hasDeadline(pod);
    case 'BestEffort':
      return isBestEffort(pod, settings);
    case 'NotBestEffort':
      return !isBestEffort(pod, settings);
    case 'PriorityClass':
      return matchesClass(scope, pod.spec.priorityClassName || undefined);
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(pod.spec);
    default:
      return false;
  }
}

const isBestEffort = ({ spec, status }: Pod, settings: KindSettings): boolean => (status.qosClass ?? computeQosClass(spec, settings)) === 'BestEffort';

function reachesOtherNamespaces({ affinity }: PodSpec): boolean {
  const reaches = ({ namespaces, namespaceSelector }: PodAffinityTerm): boolean => (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined;
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (side) =>
      side?.requiredDuringSchedulingIgnoredDuringExecution?.some(reaches) ||
      side?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) => reaches(podAffinityTerm)),
  );
}

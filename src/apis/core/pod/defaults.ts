import type { KindContext } from '../../../registry/write.ts';
import type { EmptyPaths } from '../../../schema/empty-paths.ts';
import { changeEach } from '../../../util/pending.ts';
import { formatQuantity } from '../../../api/quantity.ts';
import type { Container, ContainerStatus, HTTPGetAction, Lifecycle, Pod, PodSpec, PodStatus, Probe, ResourceRequirements } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { isHugePages, isOvercommitAllowed, isPodLevelResource } from '../../validation/resource-names.ts';
import { type AnyContainer, CONTAINER_LISTS } from './containers-of.ts';
import { defaultPullPolicy } from './image-reference.ts';
import { type ResourceList, aggregateContainers, roundToThousandths } from './resource-lists.ts';
import { defaultVolume } from './volume-defaults.ts';

/** Init containers were annotations once; clients that still send those must not see them come back. */
const INIT_CONTAINER_ANNOTATIONS = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];
const DEFAULT_GRACE_SECONDS = 30;
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** The whole default tail of a pod (SetObjectDefaults_Pod), and what upstream's conversion to its internal form settles. */
export function defaultPod(pod: Pod, { settings, sentEmpty, turns }: Pick<KindContext, 'settings' | 'sentEmpty' | 'turns'>): void {
  const { spec, status } = pod;
  for (const list of ['containers', 'initContainers'] as const) {
    const emptyInList = sentEmpty.at('spec', list);
    changeEach(turns, `limits of ${list}`, spec[list], (container, index) => requestWhatIsLimited(container, emptyInList.at(index, 'resources')));
  }
  if (spec.resources && isFeatureOn(settings, 'PodLevelResources')) defaultPodResources(spec, spec.resources);
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) for (const list of ['containers', 'initContainers'] as const) for (const container of spec[list] ?? []) useHostPorts(container);
  defaultPodSpec(spec, { settings, turns });
  if (spec.terminationGracePeriodSeconds! < 0) spec.terminationGracePeriodSeconds = 1;
  dropInitContainerAnnotations(pod.metadata);
  defaultStatus(status);
}

/** What a pod and a template have in common. */
export function defaultPodSpec(spec: PodSpec, { settings, turns }: Pick<KindContext, 'settings' | 'turns'>): void {
  const hasImages = isFeatureOn(settings, 'ImageVolume');
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= DEFAULT_GRACE_SECONDS;
  spec.schedulerName ??= 'default-scheduler';
  changeEach(turns, 'volumes', spec.volumes, (volume) => defaultVolume(volume, hasImages));
  for (const list of CONTAINER_LISTS) changeEach<AnyContainer>(turns, list, spec[list], defaultContainer);
  roundToThousandths(spec.overhead);
  roundRequirements(spec.resources);
  nameServiceAccount(spec);
}

/** `serviceAccount` is the older name of the same field: either sets both. */
function nameServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

export function dropInitContainerAnnotations(metadata: Pod['metadata']): void {
  const { annotations } = metadata;
  if (!annotations) return;
  for (const key of INIT_CONTAINER_ANNOTATIONS) delete annotations[key];
}

/** What was sent empty counts as set: requests are empty then, too. */
function requestWhatIsLimited({ resources }: Container, sentEmpty: EmptyPaths): void {
  if (sentEmpty.has('limits') && !resources.requests) sentEmpty.add([], 'requests', 'map');
  if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

function useHostPorts({ ports = [] }: Container): void {
  for (const port of ports) port.hostPort ||= port.containerPort;
}

/** KEP-2837: limits of huge pages from the containers', then requests from the containers', then from the limits. */
function defaultPodResources(spec: PodSpec, resources: ResourceRequirements): void {
  const { limits, requests } = resources;
  if (!limits && !requests) return;
  const pages = containerAmounts(spec, 'limits', (name) => isHugePages(name) && !Object.hasOwn(requests ?? {}, name));
  const allLimits = { ...pages, ...limits };
  if (Object.keys(allLimits).length === 0) return;
  resources.limits = allLimits;
  const needed = containerAmounts(spec, 'requests', (name) => isPodLevelResource(name) && isOvercommitAllowed(name));
  const limited = Object.fromEntries(Object.entries(allLimits).filter(([name]) => isPodLevelResource(name)));
  const allRequests = { ...limited, ...needed, ...requests };
  if (Object.keys(allRequests).length > 0) resources.requests = allRequests;
}

function containerAmounts(spec: PodSpec, side: 'requests' | 'limits', isWanted: (name: string) => boolean): ResourceList {
  const wanted = [...aggregateContainers(spec, side)].filter(([name]) => isWanted(name));
  return Object.fromEntries(wanted.map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

function defaultContainer(container: AnyContainer): void {
  container.imagePullPolicy ??= defaultPullPolicy(container.image ?? '');
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  roundRequirements(container.resources);
  for (const probe of PROBES) if (container[probe]) defaultProbe(container[probe]);
  if (container.lifecycle) defaultLifecycle(container.lifecycle);
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.httpGet) defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultLifecycle({ postStart, preStop }: Lifecycle): void {
  if (postStart?.httpGet) defaultHttpGet(postStart.httpGet);
  if (preStop?.httpGet) defaultHttpGet(preStop.httpGet);
}

function defaultHttpGet(action: HTTPGetAction): void {
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}

function roundRequirements(resources: ResourceRequirements | undefined): void {
  roundToThousandths(resources?.limits);
  roundToThousandths(resources?.requests);
}

function defaultStatus(status: PodStatus): void {
  roundToThousandths(status.allocatedResources);
  roundRequirements(status.resources);
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const)
    for (const container of status[list] ?? []) defaultContainerStatus(container);
  pairPodIps(status);
}

function defaultContainerStatus(status: ContainerStatus): void {
  roundToThousandths(status.allocatedResources);
  roundRequirements(status.resources);
}

/** `podIP` is the first of `podIPs`; where they differ it is the one that counts (older kubelets know no other). */
function pairPodIps(status: PodStatus): void {
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first;
}

import type { Change, KindSettings } from '../../../registry/write.ts';
import { clone } from '../../../schema/clone.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { isSidecar } from './containers-of.ts';
import { computeQosClass, qosClassOf } from './qos.ts';

/** Changing what running containers may use (KEP-1287). All but cpu and memory stays. */
const RESIZABLE = new Set(['cpu', 'memory']);
const POD_LEVEL_FORBIDDEN = 'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled';
const ONLY_CPU_AND_MEMORY = 'only cpu and memory resources are mutable';

/** `errors` stands at the spec. */
export function validateResizedSpec({ object: pod, old, settings }: Change<Pod>, errors: FieldErrors): void {
  if (qosClassOf(old, settings) !== computeQosClass(pod.spec, settings))
    errors.invalidTyped(pod.status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  if (!isSupported(old)) errors.forbidden('Pod running on node without support for resize');
  const rest = clone(pod.spec);
  if (hasResources(old.spec) || hasResources(pod.spec)) {
    if (!isFeatureOn(settings, 'InPlacePodLevelResourcesVerticalScaling')) return new FieldErrors('', errors.list).forbidden(POD_LEVEL_FORBIDDEN);
    validatePodLevel(rest, old.spec, errors);
  }
  if (old.status.nodeAllocatableResourceClaimStatuses) errors.forbidden('pods with node allocatable resource claims cannot be resized');
  if (!validateOrder(pod.spec, old.spec, errors)) return;
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (pod.spec[list] ?? []).entries()) {
      if (list === 'initContainers' && !isResizable(container, settings)) continue;
      validateNothingRemoved(container.resources, old.spec[list]![index]!.resources, 'resource', errors.at(list).index(index).at('resources'));
    }
  }
  for (const [index, container] of (rest.containers ?? []).entries()) {
    const before = old.spec.containers![index]!;
    container.resources = withOldComputeOnly(container.resources, before.resources);
    if (!equalJson(container, before)) errors.forbidden(ONLY_CPU_AND_MEMORY);
  }
  for (const [index, container] of (rest.initContainers ?? []).entries())
    validateInitContainer(container, old.spec.initContainers![index]!, errors, index, settings);
  if (errors.list.length === 0 && !equalJson(rest, old.spec)) errors.forbidden(ONLY_CPU_AND_MEMORY);
}

/** A node that does not report what its containers use cannot change it. */
function isSupported({ status }: Pod): boolean {
  const running = (status.containerStatuses ?? []).find(({ state }) => state.running);
  return !running || running.resources !== undefined;
}

const hasResources = ({ resources }: PodSpec): boolean => resources?.requests !== undefined || resources?.limits !== undefined;

function validatePodLevel(rest: PodSpec, old: PodSpec, errors: FieldErrors): void {
  if (old.resources && !rest.resources) return errors.at('resources').forbidden('pod-level resources cannot be removed');
  if (old.resources) validateNothingRemoved(rest.resources!, old.resources, 'pod-level resource', errors.at('resources'));
  const { claims } = rest.resources!;
  const masked = { ...withOldComputeOnly(rest.resources!, old.resources ?? {}), ...(claims && { claims }) };
  if (!old.resources && Object.keys(masked).length === 0) delete rest.resources;
  else rest.resources = masked;
  if (!equalJson(rest.resources, old.resources)) errors.forbidden('only cpu and memory resources are mutable at pod-level');
}

function validateNothingRemoved(resources: ResourceRequirements, old: ResourceRequirements, subject: string, errors: FieldErrors): void {
  for (const side of ['requests', 'limits'] as const) {
    const isRemoved = Object.keys(old[side] ?? {}).some((name) => !Object.hasOwn(resources[side] ?? {}, name));
    if (isRemoved) errors.at(side).forbidden(`${subject} ${side} cannot be removed`);
  }
}

/** The new amounts with the old ones of cpu and memory; claims are left out, as upstream does. */
function withOldComputeOnly(resources: ResourceRequirements, old: ResourceRequirements): ResourceRequirements {
  const kept: ResourceRequirements = {};
  for (const side of ['limits', 'requests'] as const) {
    const isOther = ([name]: [string, string]): boolean => !RESIZABLE.has(name);
    const merged = {
      ...Object.fromEntries(Object.entries(resources[side] ?? {}).filter(isOther)),
      ...Object.fromEntries(Object.entries(old[side] ?? {}).filter((entry) => !isOther(entry))),
    };
    if (Object.keys(merged).length > 0) kept[side] = merged;
  }
  return kept;
}

const isResizable = (container: Container, settings: KindSettings): boolean =>
  isSidecar(container) || isFeatureOn(settings, 'InPlacePodVerticalScalingInitContainers');

function validateInitContainer(container: Container, old: Container, spec: FieldErrors, index: number, settings: KindSettings): void {
  const isModified = !equalJson(container, old);
  if (!isResizable(container, settings)) {
    if (isModified) spec.forbidden('resources for non-sidecar init containers are immutable');
    return;
  }
  const errors = spec.at('initContainers').index(index);
  container.resources = withOldComputeOnly(container.resources, old.resources);
  if (!equalJson(container, old)) errors.forbidden('only cpu and memory resources for init or sidecar containers are mutable');
  if (!isModified || isSidecar(container)) return;
  for (const { restartPolicy } of container.resizePolicy ?? []) {
    if (restartPolicy === 'RestartContainer') errors.forbidden('non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
  }
}

/** Answers whether containers are the same ones in the same places. */
function validateOrder(spec: PodSpec, old: PodSpec, errors: FieldErrors): boolean {
  const before = errors.list.length;
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = spec[list] ?? [];
    const former = old[list] ?? [];
    if (containers.length !== former.length) errors.at(list).forbidden(`${list} may not be added or removed on resize`);
    else
      for (const [index, { name }] of former.entries())
        if (containers[index]!.name !== name) errors.at(list).index(index).at('name').forbidden(`${list} may not be renamed or reordered on resize`);
  }
  return errors.list.length === before;
}

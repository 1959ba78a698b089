import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { PriorityClass } from '../apis/facts/types/scheduling-v1.ts';
import type { PodGroup } from '../apis/facts/types/scheduling-v1alpha2.ts';
import type { Informer } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from './plugin.ts';
import { refusal } from './refusal.ts';

interface Resolved {
  className: string;
  priority: number;
  preemptionPolicy: string | undefined;
}

const NO_CLASS: Resolved = { className: '', priority: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** A pod's priority is its class's, or the default class's; there is one default at most (plugin/pkg/admission/priority). */
export function priority({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const classes = client.resource<PriorityClass>('scheduling.k8s.io', 'priorityclasses').informer;
  const hasGroupPriorities = isEnabled('WorkloadAwarePreemption');

  function mutate(attributes: AdmissionAttributes): void {
    const { resource, operation } = attributes;
    if (resource === 'pods' && operation === 'CREATE') setPodPriority(attributes, classes);
    else if (resource === 'pods') keepPodPriority(attributes);
    else if (resource === 'podgroups' && operation === 'CREATE' && hasGroupPriorities) setGroupPriority(attributes, classes);
  }

  function validate(attributes: AdmissionAttributes): void {
    if (attributes.resource !== 'priorityclasses') return;
    const added = attributes.object as PriorityClass;
    if (!added.globalDefault) return;
    const present = defaultClass(classes);
    if (!present || (attributes.operation === 'UPDATE' && present.metadata.name === added.metadata.name)) return;
    throw refusal(attributes, `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`);
  }
  return {
    name: 'Priority',
    operations: CREATE_OR_UPDATE,
    targets: ['pods', 'podgroups.scheduling.k8s.io', 'priorityclasses.scheduling.k8s.io'],
    mutate,
    validate,
  };
}

function setPodPriority(attributes: AdmissionAttributes, classes: Informer<PriorityClass>): void {
  const { spec } = attributes.object as Pod;
  const resolved = resolve(attributes, classes, spec.priorityClassName);
  if (resolved.className !== '') spec.priorityClassName = resolved.className;
  if (spec.priority !== undefined && spec.priority !== resolved.priority) {
    throw refusal(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${resolved.priority} from the given PriorityClass name`,
    );
  }
  spec.priority = resolved.priority;
  const { preemptionPolicy } = resolved;
  if (preemptionPolicy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw refusal(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = preemptionPolicy;
}

/** Who updates a pod from the manifest it was made of does not know what was filled in. Changes of it are the kind's to refuse. */
function keepPodPriority({ object, oldObject }: AdmissionAttributes): void {
  const { spec } = object as Pod;
  const { priority: oldPriority, preemptionPolicy: oldPolicy } = (oldObject as Pod).spec;
  if (oldPriority !== undefined) spec.priority ??= oldPriority;
  if (oldPolicy !== undefined) spec.preemptionPolicy ??= oldPolicy;
}

function setGroupPriority(attributes: AdmissionAttributes, classes: Informer<PriorityClass>): void {
  const { spec } = attributes.object as PodGroup;
  const { className, priority: value } = resolve(attributes, classes, spec.priorityClassName);
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refusal(
      attributes,
      `priority set in the pod group (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`,
    );
  }
  spec.priority = value;
  if (className !== '') spec.priorityClassName = className;
}

function resolve(attributes: AdmissionAttributes, classes: Informer<PriorityClass>, name: string | undefined): Resolved {
  const found = name ? classes.get('', name) : defaultClass(classes);
  if (found) return { className: found.metadata.name!, priority: found.value, preemptionPolicy: found.preemptionPolicy };
  if (!name) return NO_CLASS;
  throw refusal(attributes, `no PriorityClass with name ${name} was found`);
}

/** Where a race has made two, the lesser one. */
function defaultClass(classes: Informer<PriorityClass>): PriorityClass | undefined {
  let least: PriorityClass | undefined;
  for (const candidate of classes.list('')) if (candidate.globalDefault && (!least || candidate.value < least.value)) least = candidate;
  return least;
}

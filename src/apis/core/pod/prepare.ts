import type { Change, KindSettings, Write } from '../../../registry/write.ts';
import type { RequestContext } from '../../../registry/request-context.ts';
import { clone } from '../../../schema/clone.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import { timeOf } from '../../../util/time.ts';
import type { Container, Pod, PodCondition, PodSpec } from '../../facts/types/core-v1.ts';
import type { LabelSelector } from '../../facts/types/meta-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { podAffinityTerms } from './affinity.ts';
import { APP_ARMOR, appArmorField } from './annotations.ts';
import { containersOf } from './containers-of.ts';
import { dropGatedSpecFields, dropGatedStatusFields } from './gated-fields.ts';
import { qosClassOf } from './qos.ts';
import { validateAppArmor } from './security-context.ts';

/** What only the server decides about a new pod (pkg/registry/core/pod/strategy.go). */
export function prepareNewPod({ object: pod, settings, now, context }: Write<Pod>): void {
  const { spec } = pod;
  pod.metadata.generation = 1;
  pod.status = { phase: 'Pending', qosClass: qosClassOf(pod, settings), ...(spec.schedulingGates && { conditions: [gatedCondition(now)] }) };
  dropGatedSpecFields(spec, undefined, settings);
  if (spec.affinity) for (const term of podAffinityTerms(spec.affinity)) mergeLabelKeys(term, pod);
  if (mergesSpreadKeys(settings)) for (const constraint of spec.topologySpreadConstraints ?? []) mergeLabelKeys(constraint, pod);
  if (pod.metadata.annotations && spec.os?.name !== 'windows') applyAppArmorAnnotations(pod, context);
}

const gatedCondition = (now: Date): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: timeOf(now),
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

const mergesSpreadKeys = (settings: KindSettings): boolean =>
  isFeatureOn(settings, 'MatchLabelKeysInPodTopologySpread') && isFeatureOn(settings, 'MatchLabelKeysInPodTopologySpreadSelectorMerge');

/** Keys whose values are the pod's own become part of the selector, once (KEP-3633, KEP-3243). */
function mergeLabelKeys(keyed: { labelSelector?: LabelSelector; matchLabelKeys?: string[]; mismatchLabelKeys?: string[] }, pod: Pod): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = keyed;
  if (!labelSelector || (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0)) return;
  const labels = pod.metadata.labels ?? {};
  const expressions = (keys: readonly string[], operator: string) =>
    keys.filter((key) => Object.hasOwn(labels, key)).map((key) => ({ key, operator, values: [labels[key]!] }));
  const merged = [...(labelSelector.matchExpressions ?? []), ...expressions(matchLabelKeys, 'In'), ...expressions(mismatchLabelKeys, 'NotIn')];
  if (merged.length > 0) labelSelector.matchExpressions = merged;
}

/** Older clients set AppArmor profiles by annotation; the field takes them over, and the client is told (KEP-24). */
function applyAppArmorAnnotations({ metadata, spec }: Pod, context: RequestContext): void {
  for (const container of containersOf(spec)) {
    const key = APP_ARMOR + container.name;
    const annotation = metadata.annotations![key];
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue;
    const errors = new FieldErrors();
    const profile = appArmorField(annotation);
    validateAppArmor(profile, errors);
    if (profile && errors.isEmpty && equalJson(profile, spec.securityContext?.appArmorProfile)) continue;
    if (profile && errors.isEmpty) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    context.warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

/** The registry keeps the status; the generation counts changes of the spec. */
export function preparePodUpdate({ object: pod, old, settings }: Change<Pod>): void {
  dropGatedSpecFields(pod.spec, old.spec, settings);
  countGeneration(pod, old);
}

function countGeneration(pod: Pod, old: Pod): void {
  if (!equalJson(pod.spec, old.spec)) pod.metadata.generation = (pod.metadata.generation ?? 0) + 1;
}

/** Through /status neither owners nor the deletion's time move, and what says which generation was seen is never lost. */
export function prepareStatusUpdate({ object: pod, old, settings }: Change<Pod>): void {
  const { metadata, status } = pod;
  delete metadata.deletionTimestamp;
  if (old.metadata.ownerReferences) metadata.ownerReferences = clone(old.metadata.ownerReferences);
  else delete metadata.ownerReferences;
  if (!status.qosClass && old.status.qosClass) status.qosClass = old.status.qosClass;
  keepObservedGenerations(pod, old);
  dropGatedStatusFields(pod, old, settings);
}

function keepObservedGenerations({ status }: Pod, { status: before }: Pod): void {
  if (!status.observedGeneration && before.observedGeneration) status.observedGeneration = before.observedGeneration;
  const generations = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of before.conditions ?? []) generations.set(type, [...(generations.get(type) ?? []), observedGeneration]);
  // A type may stand there more than once: the n-th is held against the n-th.
  for (const condition of status.conditions ?? []) {
    const former = generations.get(condition.type)?.shift();
    if (!condition.observedGeneration && former) condition.observedGeneration = former;
  }
}

/** Of an update through /ephemeralcontainers, only they count. */
export function prepareEphemeralUpdate({ object: pod, old, settings }: Change<Pod>): void {
  const { ephemeralContainers } = pod.spec;
  keepAllButSpec(pod, old);
  const { ephemeralContainers: _former, ...spec } = clone(old.spec);
  pod.spec = { ...spec, ...(ephemeralContainers && { ephemeralContainers }) };
  dropGatedSpecFields(pod.spec, old.spec, settings);
  countGeneration(pod, old);
}

/** Of an update through /resize, only resources and resize policies count; containers that moved are left for validation to refuse. */
export function prepareResize({ object: pod, old, settings }: Change<Pod>): void {
  const { spec } = pod;
  const lists = ['containers', 'initContainers'] as const;
  if (lists.every((list) => (spec[list] ?? []).length === (old.spec[list] ?? []).length)) {
    keepAllButSpec(pod, old);
    pod.spec = clone(old.spec);
    for (const list of lists) if (spec[list]) pod.spec[list] = mergeResources(spec[list], old.spec[list] ?? []);
    if (isFeatureOn(settings, 'InPlacePodLevelResourcesVerticalScaling')) takeResources(pod.spec, spec);
  }
  dropGatedSpecFields(pod.spec, old.spec, settings);
  countGeneration(pod, old);
}

function takeResources(spec: PodSpec, { resources }: PodSpec): void {
  if (resources) spec.resources = resources;
  else delete spec.resources;
}

function mergeResources(containers: Container[], old: readonly Container[]): Container[] {
  if (containers.some(({ name }, index) => name !== old[index]!.name)) return containers;
  return containers.map(({ resources, resizePolicy }, index) => {
    const { resizePolicy: _former, ...kept } = clone(old[index]!);
    return { ...kept, resources, ...(resizePolicy && { resizePolicy }) };
  });
}

/** Metadata that a subresource does not write, and the status (metav1.ResetObjectMetaForStatus). Who owns what it does write has been noted already. */
function keepAllButSpec(pod: Pod, old: Pod): void {
  const before = clone(old);
  pod.status = before.status;
  for (const field of ['deletionTimestamp', 'generation', 'selfLink', 'labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    if (before.metadata[field] === undefined) delete pod.metadata[field];
    else Object.assign(pod.metadata, { [field]: before.metadata[field] });
  }
}

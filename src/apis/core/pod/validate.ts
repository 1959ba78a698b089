import type { Change, Write } from '../../../registry/write.ts';
import { validateMetadata } from '../../../registry/metadata.ts';
import { NOTHING_EMPTY } from '../../../schema/empty-paths.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import { quote } from '../../../util/go-quote.ts';
import { equalJson } from '../../../encoding/json-equal.ts';
import { subdomainName } from '../../../api/names.ts';
import type { Pod } from '../../facts/types/core-v1.ts';
import { validateFinalizerNames } from '../../validation/finalizer-names.ts';
import { MIRROR, validateAnnotationUpdate, validateAnnotationsMatchFields, validatePodAnnotations } from './annotations.ts';
import { validateImageText } from './containers.ts';
import { validateResizedSpec } from './resize.ts';
import { type PodRules, podRules } from './rules.ts';
import { validatePodSpec } from './spec.ts';
import { validatePodStatus } from './status.ts';
import { ephemeralContainerDiff, validateSpecUpdate } from './update.ts';
import { checkEach } from '../../../api/validation-run.ts';

/** A new pod. Its metadata has been validated by the common rules. */
export function validateNewPod(write: Write<Pod>, errors: FieldErrors): void {
  const { metadata, spec } = write.object;
  const at = errors.at('spec');
  validateWhole(write, errors, podRules(write.settings, undefined, undefined, true));
  if (spec.ephemeralContainers) at.at('ephemeralContainers').forbidden('cannot be set on create');
  if (spec.nodeName && spec.schedulingGates) at.at('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
  validateAnnotationsMatchFields(metadata, spec, at);
}

/** What holds for a pod at any time (validatePodMetadataAndSpec). */
function validateWhole({ object: pod, sentEmpty }: Write<Pod>, errors: FieldErrors, rules: PodRules): void {
  const { metadata, spec } = pod;
  const at = errors.at('spec');
  validateFinalizerNames(metadata, errors);
  validatePodAnnotations(metadata, spec, errors.at('metadata', 'annotations'), rules);
  validatePodSpec(spec, metadata, at, rules, sentEmpty.at('spec'));
  if (!spec.serviceAccountName) validateNoTokens(pod, at.at('volumes'));
  for (const list of ['containers', 'initContainers'] as const)
    for (const [index, container] of (spec[list] ?? []).entries()) validateImageText(container, at.at(list).index(index));
}

function validateNoTokens({ spec }: Pod, errors: FieldErrors): void {
  checkEach(errors, 'tokens', spec.volumes ?? [], ({ projected }, index) => {
    if (!projected) return;
    const at = errors.index(index).at('projected', 'sources');
    checkEach(at, 'tokens', projected.sources ?? [], ({ serviceAccountToken }, sourceIndex) => {
      if (serviceAccountToken) at.index(sourceIndex).at('serviceAccountToken').forbidden('must not be specified when serviceAccountName is not set');
    });
  });
}

/** The same for a changed pod, whose metadata is validated as a pod's once more. */
function validateChanged(write: Change<Pod>, errors: FieldErrors): PodRules {
  const { object: pod, old, settings } = write;
  const rules = podRules(settings, old.spec, old.metadata, true);
  validateFinalizerNames(pod.metadata, errors);
  validateMetadata(pod.metadata, true, subdomainName, errors.at('metadata'));
  validateWhole(write, errors, rules);
  return rules;
}

export function validatePodUpdate(write: Change<Pod>, errors: FieldErrors): void {
  const { object: pod, old } = write;
  const rules = validateChanged(write, errors);
  validateAnnotationUpdate(pod, old, errors.at('metadata', 'annotations'), rules);
  validateSpecUpdate(pod, old, errors.at('spec'), rules);
}

export function validateStatusUpdate(write: Change<Pod>, errors: FieldErrors): void {
  const { object: pod, old, settings } = write;
  validateFinalizerNames(pod.metadata, errors);
  validateAnnotationUpdate(pod, old, errors.at('metadata', 'annotations'), podRules(settings, old.spec, old.metadata, true));
  validatePodStatus(write, errors.at('status'));
}

/** Containers for debugging may be added, and stay as they are. */
export function validateEphemeralUpdate(write: Change<Pod>, errors: FieldErrors): void {
  const { object: pod, old } = write;
  const before = errors.list.length;
  const rules = validateChanged(write, errors);
  validateAnnotationUpdate(pod, old, errors.at('metadata', 'annotations'), rules);
  if (refusesStaticPod(old, errors, before, 'static pods do not support ephemeral containers')) return;
  const at = errors.at('spec', 'ephemeralContainers');
  const containers = new Map((pod.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const former of old.spec.ephemeralContainers ?? []) {
    const container = containers.get(former.name);
    if (!container) at.forbidden(`existing ephemeral containers ${quote(former.name)} may not be removed\n`);
    else if (!equalJson(container, former)) {
      at.forbidden(`existing ephemeral containers ${quote(former.name)} may not be changed\n${ephemeralContainerDiff(former, container)}`);
    }
  }
}

export function validateResize(write: Change<Pod>, errors: FieldErrors): void {
  const { old } = write;
  const before = errors.list.length;
  // Of what was sent, only resources are taken.
  validateChanged({ ...write, sentEmpty: NOTHING_EMPTY }, errors);
  if (refusesStaticPod(old, errors, before, 'static pods cannot be resized')) return;
  if (old.spec.os?.name === 'windows') return refuseOnly(errors, before, 'windows pods cannot be resized');
  validateResizedSpec(write, errors.at('spec'));
}

/** The API's copy of a pod that a kubelet runs by itself takes no orders. */
function refusesStaticPod(old: Pod, errors: FieldErrors, before: number, why: string): boolean {
  if (old.metadata.annotations?.[MIRROR] === undefined) return false;
  refuseOnly(errors, before, why);
  return true;
}

/** Instead of whatever else is wrong. */
function refuseOnly(errors: FieldErrors, before: number, why: string): void {
  errors.list.length = before;
  new FieldErrors('', errors.list).forbidden(why);
}

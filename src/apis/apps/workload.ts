import type { ApiObject } from '../../api/api-object.ts';
import type { Write } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123LabelErrors } from '../../api/names.ts';
import { type PodTemplateOptions, podTemplateWarnings, validatePodTemplateSpec } from '../core/pod/template.ts';
import type { Container, PodTemplateSpec } from '../facts/types/core-v1.ts';
import type { LabelSelector } from '../facts/types/meta-v1.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import type { InternalFields } from '../validation/internal-form.ts';
import { parsedSelector, shownSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

/** What the kinds that keep pods running have in common (pkg/apis/apps/validation). */
const NOT_MATCHED = '`selector` does not match template `labels`';
const ALWAYS = 'Always';

/** How pods are replaced, as field errors print it. */
export const ROLLING_STRATEGY: InternalFields = [
  ['Type', 'type'],
  [
    'RollingUpdate',
    'rollingUpdate',
    [
      ['MaxUnavailable', 'maxUnavailable', 0],
      ['MaxSurge', 'maxSurge', 0],
    ],
  ],
];

/** A selector that must be there, be valid and not select everything. */
export function validateRequiredSelector(selector: LabelSelector | null, owner: string, errors: FieldErrors): void {
  if (!selector) return errors.required();
  validateLabelSelector(selector, errors);
  validateNotEmpty(selector, owner, errors);
}

export function validateNotEmpty(selector: LabelSelector, owner: string, errors: FieldErrors): void {
  const count = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length;
  if (count === 0) errors.invalid({}, `empty selector is invalid for ${owner}`);
}

export const validateSameSelector = (selector: LabelSelector | null | undefined, old: LabelSelector | null | undefined, errors: FieldErrors): void =>
  validateUnchanged(selector, old, errors, () => shownSelector(selector));

/** `errors` stands at the template. */
export function validateMatches(isMatch: boolean, template: PodTemplateSpec, errors: FieldErrors): void {
  if (!isMatch) errors.at('metadata', 'labels').invalid(template.metadata.labels, NOT_MATCHED);
}

/** Pods that are replaced by others run for ever: `owner` is named in what is said of a deadline. */
export function validateRunsForever({ spec }: PodTemplateSpec, owner: string, errors: FieldErrors): void {
  const at = errors.at('spec');
  if (spec.restartPolicy !== ALWAYS) at.at('restartPolicy').notSupported(spec.restartPolicy ?? '', [ALWAYS]);
  if (spec.activeDeadlineSeconds !== undefined) at.at('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${owner} is not Supported`);
}

/** Of Deployments and ReplicaSets. `errors` stands at the spec. */
export function validateSelectedTemplate(
  spec: { selector: LabelSelector | null; template: PodTemplateSpec },
  errors: FieldErrors,
  options: PodTemplateOptions,
): void {
  const selector = parsedSelector(spec.selector);
  if (selector === undefined) return errors.at('selector').invalid(shownSelector(spec.selector), 'invalid label selector');
  const at = errors.at('template');
  validateMatches(selector.isEmpty || selector.matches(spec.template.metadata.labels), spec.template, at);
  validatePodTemplateSpec(spec.template, at, options);
  validateRunsForever(spec.template, 'ReplicaSet', at);
}

/** The counts of a status: none below zero, and some not above others. */
export interface StatusCounts {
  nonNegative: readonly string[];
  /** `[field, its bound, what is said]`, in order. */
  atMost: readonly (readonly [field: string, bound: string, message: string])[];
}

export function validateCounts(status: object, { nonNegative, atMost }: StatusCounts, errors: FieldErrors): void {
  const counts = status as Record<string, number | undefined>;
  for (const field of nonNegative) validateNonNegative(counts[field], errors.at(field));
  for (const [field, bound, message] of atMost) {
    if ((counts[field] ?? 0) > (counts[bound] ?? 0)) errors.at(field).invalid(counts[field] ?? 0, message);
  }
}

/** Names of what a controller makes carry it, so the same collision must not be met twice. */
export function validateCollisionCount(status: { collisionCount?: number }, old: { collisionCount?: number }, errors: FieldErrors): void {
  if (old.collisionCount === undefined) return;
  if ((status.collisionCount ?? -Infinity) < old.collisionCount) errors.at('collisionCount').invalid(status.collisionCount ?? 0, 'cannot be decremented');
}

/** Names that become part of pods' names. */
export function podNameWarnings(name: string | undefined): string[] {
  const errors = dns1123LabelErrors(name ?? '');
  if (errors.length === 0) return [];
  return [`metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${errors.join(' ')}]`];
}

interface Templated extends ApiObject {
  spec: { template: PodTemplateSpec };
}

/** At creation of the name and the template; later of the template, whenever the spec has changed. */
export function templateOwnerWarnings({ object: { metadata, spec }, old }: Write<Templated>): string[] {
  if (old && old.metadata.generation === metadata.generation) return [];
  return [...(old ? [] : podNameWarnings(metadata.name)), ...podTemplateWarnings(spec.template, 'spec.template')];
}

/** The wide columns of whatever has a pod template. */
export const containerNames = (containers: readonly Container[] | null | undefined): string => (containers ?? []).map(({ name }) => name).join(',');
export const containerImages = (containers: readonly Container[] | null | undefined): string => (containers ?? []).map(({ image }) => image ?? '').join(',');

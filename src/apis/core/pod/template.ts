import type { KindContext, KindSettings } from '../../../registry/write.ts';
import { validateAnnotations, validateLabels } from '../../../registry/metadata.ts';
import type { EmptyPaths } from '../../../schema/empty-paths.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import type { PodTemplateSpec } from '../../facts/types/core-v1.ts';
import { validateAnnotationsMatchFields, validatePodAnnotations } from './annotations.ts';
import { defaultPodSpec, dropInitContainerAnnotations } from './defaults.ts';
import { dropGatedSpecFields } from './gated-fields.ts';
import { podRules } from './rules.ts';
import { validatePodSpec } from './spec.ts';
import { podSpecWarnings } from './warnings.ts';

/** How a template is validated. */
export interface PodTemplateOptions {
  /** The template before the update: what it has already may stay, though it would not be let in anew. */
  old?: PodTemplateSpec | undefined;
  settings: KindSettings;
  /** What of the template was sent empty. */
  sentEmpty: EmptyPaths;
}

/** What a pod made from the template would be given, as far as that does not depend on the pod. */
export function defaultPodTemplateSpec({ metadata, spec }: PodTemplateSpec, context: Pick<KindContext, 'settings' | 'turns'>): void {
  defaultPodSpec(spec, context);
  dropInitContainerAnnotations(metadata);
}

/** For prepareForCreate and prepareForUpdate of whatever has a template: takes out fields whose features are off. */
export function dropGatedTemplateFields(template: PodTemplateSpec | undefined, old: PodTemplateSpec | undefined, settings: KindSettings): void {
  if (template) dropGatedSpecFields(template.spec, old?.spec, settings);
}

/** `errors` stands at the template. */
export function validatePodTemplateSpec({ metadata, spec }: PodTemplateSpec, errors: FieldErrors, { old, settings, sentEmpty }: PodTemplateOptions): void {
  const rules = podRules(settings, old?.spec, old?.metadata);
  const specErrors = errors.at('spec');
  validateLabels(metadata.labels, errors.at('labels'));
  validateAnnotations(metadata.annotations, errors.at('annotations'));
  validatePodAnnotations(metadata, spec, errors.at('annotations'), rules);
  validatePodSpec(spec, undefined, specErrors, rules, sentEmpty.at('spec'));
  validateAnnotationsMatchFields(metadata, spec, specErrors);
  if (spec.ephemeralContainers) specErrors.at('ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
}

/** `path` is the template's, for instance `spec.template`. */
export function podTemplateWarnings({ metadata, spec }: PodTemplateSpec, path: string): string[] {
  return podSpecWarnings(spec, metadata, path);
}

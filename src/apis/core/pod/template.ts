import type { FieldErrors } from '../../../util/field-errors.ts';
import type { PodTemplateSpec } from '../../facts/types/core-v1.ts';

/** How a template is judged; the old template, where there is one, lets what it has already stay. */
export interface PodTemplateOptions {
  old?: PodTemplateSpec | undefined;
}

/** Fills in what a pod made from the template would be given. */
export function defaultPodTemplateSpec(_template: PodTemplateSpec): void {}

/** `errors` stands at the template. */
export function validatePodTemplateSpec(_template: PodTemplateSpec, _errors: FieldErrors, _options: PodTemplateOptions = {}): void {}

/** `path` is the template's, for instance `spec.template`. */
export function podTemplateWarnings(_template: PodTemplateSpec, _path: string): string[] {
  return [];
}

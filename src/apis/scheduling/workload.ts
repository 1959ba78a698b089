import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123LabelErrors, pathSegmentErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { PodGroupTemplate, TypedLocalObjectReference, Workload, WorkloadSpec } from '../facts/types/scheduling-v1alpha2.ts';
import { dropDisabledGroupFields, validateGroup, validateName, validateOptionalName, validateUnchanged, validateUniqueNames } from './pod-group-rules.ts';

const MAX_TEMPLATES = 8;
const IMMUTABLE = ['controllerRef', 'podGroupTemplates'] as const satisfies readonly (keyof WorkloadSpec)[];

/** What a controller runs as groups of pods: templates for them (KEP-4671). */
export const workloads = defineResource<Workload>('scheduling.k8s.io/v1alpha2/workloads', {
  validatesFinalizerNames: true,
  prepareForCreate: ({ object: { spec }, settings }) => dropDisabled(spec, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropDisabled(spec, old.spec, settings),

  validate({ object: { spec } }, errors) {
    if (spec.controllerRef) validateController(spec.controllerRef, errors.at('spec', 'controllerRef'));
    validateTemplates(spec.podGroupTemplates ?? [], errors.at('spec', 'podGroupTemplates'));
  },
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, IMMUTABLE, errors.at('spec')),
});

function dropDisabled(spec: WorkloadSpec, old: WorkloadSpec | undefined, settings: KindSettings): void {
  for (const [index, template] of (spec.podGroupTemplates ?? []).entries())
    dropDisabledGroupFields(template as GroupTemplate, old?.podGroupTemplates?.[index] as GroupTemplate | undefined, settings);
}

/** Its constraints are written as null where there are none. */
type GroupTemplate = Parameters<typeof dropDisabledGroupFields>[0] & Pick<PodGroupTemplate, 'name'>;

function validateController({ apiGroup, kind, name }: TypedLocalObjectReference, errors: FieldErrors): void {
  validateOptionalName(apiGroup, errors.at('apiGroup'));
  validateName(kind, pathSegmentErrors, errors.at('kind'));
  validateName(name, pathSegmentErrors, errors.at('name'));
}

function validateTemplates(templates: readonly PodGroupTemplate[], errors: FieldErrors): void {
  if (templates.length === 0) return errors.required();
  if (templates.length > MAX_TEMPLATES) return errors.tooMany(templates.length, MAX_TEMPLATES);
  validateUniqueNames(templates, errors);
  for (const [index, template] of templates.entries()) {
    validateName(template.name, dns1123LabelErrors, errors.index(index).at('name'));
    validateGroup(template, errors.index(index));
  }
}

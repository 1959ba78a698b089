import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type { PodTemplate } from '../facts/types/core-v1.ts';
import { formatLabels } from '../validation/label-selector.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields, podTemplateWarnings, validatePodTemplateSpec } from './pod/template.ts';

/** What pods are made from, kept by itself. */
export const podTemplates = defineResource<PodTemplate>('v1/podtemplates', {
  validatesFinalizerNames: true,
  generation: 'spec',

  default: ({ template }, context) => defaultPodTemplateSpec(template, context),
  prepareForCreate: ({ object: { template }, settings }) => dropGatedTemplateFields(template, undefined, settings),
  prepareForUpdate: ({ object: { template }, old, settings }) => dropGatedTemplateFields(template, old.template, settings),

  validate: ({ object: { template }, settings, sentEmpty }, errors) =>
    validatePodTemplateSpec(template, errors.at('template'), { settings, sentEmpty: sentEmpty.at('template') }),
  validateUpdate({ object: { template }, old, settings, sentEmpty }, errors) {
    validatePodTemplateSpec(template, errors.at('template'), { old: old.template, settings, sentEmpty: sentEmpty.at('template') });
  },
  warnings: ({ object: { template }, old }) => (old && equalJson(template, old.template) ? [] : podTemplateWarnings(template, 'template')),

  cells: {
    Containers: ({ template }) => (template.spec.containers ?? []).map(({ name }) => name).join(','),
    Images: ({ template }) => (template.spec.containers ?? []).map(({ image = '' }) => image).join(','),
    'Pod Labels': ({ template }) => formatLabels(template.metadata.labels),
  },
});

import type { Write } from '../../registry/write.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import { REPLICA_STATUS } from '../apps/replica-set.ts';
import { containerImages, containerNames, podNameWarnings, validateCounts, validateMatches, validateRunsForever } from '../apps/workload.ts';
import { scaleSubresource } from '../autoscaling/scale.ts';
import { defineResource } from '../define.ts';
import type { ReplicationController } from '../facts/types/core-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { formatLabels, labelText } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields, podTemplateWarnings, validatePodTemplateSpec } from './pod/template.ts';

const updateRules: UpdateRules<ReplicationController> = {
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropGatedTemplateFields(spec.template, old.spec.template, settings),
  validateUpdate(write, errors) {
    validateFinalizerNames(write.object.metadata, errors);
    validateSpec(write, errors.at('spec'));
  },
};

/** What ReplicaSets have come from: its selector is a plain set of labels. */
export const replicationControllers = defineResource<ReplicationController>('v1/replicationcontrollers', {
  ...updateRules,
  // The newer form of the rule: it counts in bytes, and leaves what names are made from alone.
  naming: { errors: (name, isPrefix) => (isPrefix ? [] : subdomainName(name, false).map((error) => error.replace(/ characters$/, ' bytes'))) },
  storage: { prefix: 'controllers', defaultsOnRead: true },
  generation: 'spec',
  // Kept from the time when clients deleted the pods themselves.
  deletion: { defaultPropagation: 'Orphan' },

  default({ metadata, spec }, context) {
    spec.replicas ??= 1;
    if (!spec.template) return;
    const { labels } = spec.template.metadata;
    if (labels && isEmpty(spec.selector)) spec.selector = { ...labels };
    if (labels && isEmpty(metadata.labels)) metadata.labels = { ...labels };
    defaultPodTemplateSpec(spec.template, context);
  },

  prepareForCreate: ({ object: { spec }, settings }) => dropGatedTemplateFields(spec.template, undefined, settings),
  validate(write, errors) {
    validateFinalizerNames(write.object.metadata, errors);
    validateSpec(write, errors.at('spec'));
  },
  warnings({ object: { metadata, spec }, old }) {
    if (old && old.metadata.generation === metadata.generation) return [];
    // On update, the reference looks at the template that goes, not at the one that comes.
    const template = old ? old.spec.template : spec.template;
    return [...(old ? [] : podNameWarnings(metadata.name)), ...(template ? podTemplateWarnings(template, 'spec.template') : [])];
  },

  subresources: {
    status: {
      update: {
        validateUpdate({ object: { metadata, status } }, errors) {
          validateFinalizerNames(metadata, errors);
          validateCounts(status, REPLICA_STATUS, errors.at('status'));
        },
      },
    },
    scale: scaleSubresource<ReplicationController>('replicationcontrollers', ({ spec }) => labelText(spec.selector), updateRules),
  },

  selectable: { 'status.replicas': ({ status }) => String(status.replicas) },
  cells: {
    Desired: ({ spec }) => spec.replicas ?? 0,
    Current: ({ status }) => status.replicas,
    Ready: ({ status }) => status.readyReplicas ?? 0,
    Containers: ({ spec }) => containerNames(spec.template?.spec.containers),
    Images: ({ spec }) => containerImages(spec.template?.spec.containers),
    Selector: ({ spec }) => formatLabels(spec.selector),
  },
});

const isEmpty = (labels: Record<string, string> | undefined): boolean => Object.keys(labels ?? {}).length === 0;

function validateSpec({ object: { spec }, old, settings, sentEmpty }: Write<ReplicationController>, errors: FieldErrors): void {
  const { selector = {}, template } = spec;
  validateNonNegative(spec.minReadySeconds, errors.at('minReadySeconds'));
  if (isEmpty(selector)) errors.at('selector').required();
  validateNonNegative(spec.replicas, errors.at('replicas'));
  const at = errors.at('template');
  if (!template) return at.required();
  const labels = template.metadata.labels ?? {};
  validateMatches(
    Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value),
    template,
    at,
  );
  validatePodTemplateSpec(template, at, { old: old?.spec.template, settings, sentEmpty: sentEmpty.at('spec', 'template') });
  validateRunsForever(template, 'ReplicationController', at);
}

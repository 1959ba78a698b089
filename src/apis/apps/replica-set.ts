import type { Write } from '../../registry/write.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { scaleSubresource } from '../autoscaling/scale.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields } from '../core/pod/template.ts';
import { defineResource } from '../define.ts';
import type { ReplicaSet } from '../facts/types/apps-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { formatLabelSelector, parsedSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import {
  type StatusCounts,
  containerImages,
  containerNames,
  templateOwnerWarnings,
  validateCounts,
  validateRequiredSelector,
  validateSelectedTemplate,
  validateSameSelector,
} from './workload.ts';

/** Of ReplicationControllers too. */
export const REPLICA_STATUS: StatusCounts = {
  nonNegative: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'],
  atMost: [
    ['fullyLabeledReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['readyReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'readyReplicas', 'cannot be greater than readyReplicas'],
  ],
};

/** Of Deployments too. */
export const GATED_REPLICA_STATUS: GatedFields = [['DeploymentReplicaSetTerminatingReplicas', ['status.terminatingReplicas']]];

const updateRules: UpdateRules<ReplicaSet> = {
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropGatedTemplateFields(spec.template, old.spec.template, settings),
  validateUpdate(write, errors) {
    const { object: replicaSet, old } = write;
    validateFinalizerNames(replicaSet.metadata, errors);
    validateSpec(write, errors.at('spec'));
    validateSameSelector(replicaSet.spec.selector, old.spec.selector, errors.at('spec', 'selector'));
  },
};

/** So many pods of one template, whichever they are. */
export const replicaSets = defineResource<ReplicaSet>('apps/v1/replicasets', {
  emptyObject: { spec: { replicas: 0 } },
  ...updateRules,
  generation: 'spec',

  default({ spec }, context) {
    spec.replicas ??= 1;
    defaultPodTemplateSpec(spec.template, context);
  },

  prepareForCreate: ({ object: { spec }, settings }) => dropGatedTemplateFields(spec.template, undefined, settings),
  validate(write, errors) {
    validateFinalizerNames(write.object.metadata, errors);
    validateSpec(write, errors.at('spec'));
  },
  warnings: templateOwnerWarnings,

  subresources: {
    status: {
      update: {
        prepareForUpdate: ({ object: replicaSet, old, settings }) => dropGatedFields(GATED_REPLICA_STATUS, replicaSet, old, settings),
        validateUpdate({ object: { metadata, status } }, errors) {
          validateFinalizerNames(metadata, errors);
          validateCounts(status, REPLICA_STATUS, errors.at('status'));
        },
      },
    },
    scale: scaleSubresource<ReplicaSet>('replicasets.apps', ({ spec }) => parsedSelector(spec.selector)?.toString() ?? '', updateRules),
  },

  cells: {
    Desired: ({ spec }) => spec.replicas ?? 0,
    Current: ({ status }) => status.replicas,
    Ready: ({ status }) => status.readyReplicas ?? 0,
    Containers: ({ spec }) => containerNames(spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.template.spec.containers),
    Selector: ({ spec }) => formatLabelSelector(spec.selector),
  },
});

function validateSpec({ object: { spec }, old, settings, sentEmpty }: Write<ReplicaSet>, errors: FieldErrors): void {
  validateNonNegative(spec.replicas, errors.at('replicas'));
  validateNonNegative(spec.minReadySeconds, errors.at('minReadySeconds'));
  validateRequiredSelector(spec.selector, 'deployment', errors.at('selector'));
  validateSelectedTemplate(spec, errors, { old: old?.spec.template, settings, sentEmpty: sentEmpty.at('spec', 'template') });
}

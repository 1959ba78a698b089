import type { Write } from '../../registry/write.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import { badRequest } from '../../api/errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { scaleSubresource } from '../autoscaling/scale.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields } from '../core/pod/template.ts';
import { defineResource } from '../define.ts';
import type { Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment } from '../facts/types/apps-v1.ts';
import { dropGatedFields } from '../gated-fields.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { amountOf, invalidIntOrPercent, validateAtMost100Percent, validateIntOrPercent } from '../validation/int-or-percent.ts';
import { internalForm } from '../validation/internal-form.ts';
import { parsedSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { GATED_REPLICA_STATUS } from './replica-set.ts';
import { readCount } from './annotation-count.ts';
import {
  ROLLING_STRATEGY,
  type StatusCounts,
  containerImages,
  containerNames,
  templateOwnerWarnings,
  validateCollisionCount,
  validateCounts,
  validateRequiredSelector,
  validateSelectedTemplate,
  validateSameSelector,
} from './workload.ts';

const RECREATE = 'Recreate';
const ROLLING_UPDATE = 'RollingUpdate';
/** What was a field of older versions: kept in an annotation, which must hold a number. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.revision';

const STATUS: StatusCounts = {
  nonNegative: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  atMost: [
    ['updatedReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['readyReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'readyReplicas', 'cannot be greater than readyReplicas'],
  ],
};

const updateRules: UpdateRules<Deployment> = {
  prepareForUpdate({ object: { metadata, spec }, old, settings }) {
    dropGatedTemplateFields(spec.template, old.spec.template, settings);
    // Annotations are copied to ReplicaSets, so a change of them is work for the controller too.
    if (!equalJson(metadata.annotations ?? {}, old.metadata.annotations ?? {})) metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateUpdate(write, errors) {
    const { object: deployment, old } = write;
    validateFinalizerNames(deployment.metadata, errors);
    validateSpec(write, errors.at('spec'));
    validateSameSelector(deployment.spec.selector, old.spec.selector, errors.at('spec', 'selector'));
  },
};

/** Pods by way of ReplicaSets, which replace one another when the template changes. */
export const deployments = defineResource<Deployment>('apps/v1/deployments', {
  emptyObject: { spec: { replicas: 0 } },
  ...updateRules,
  generation: 'spec',

  default({ metadata, spec }, context) {
    if (metadata.annotations) normalizeRollback(metadata.annotations);
    spec.replicas ??= 1;
    defaultStrategy(spec.strategy);
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
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
        prepareForUpdate({ object: deployment, old, settings }) {
          const { metadata } = deployment;
          dropGatedFields(GATED_REPLICA_STATUS, deployment, old, settings);
          if (old.metadata.labels) metadata.labels = { ...old.metadata.labels };
          else delete metadata.labels;
        },
        validateUpdate({ object: { metadata, status }, old }, errors) {
          validateFinalizerNames(metadata, errors);
          validateCounts(status, STATUS, errors.at('status'));
          validateCollisionCount(status, old.status, errors.at('status'));
        },
      },
    },
    scale: scaleSubresource<Deployment>('deployments.apps', ({ spec }) => parsedSelector(spec.selector)?.toString() ?? '', updateRules),
  },

  cells: {
    Ready: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    'Up-to-date': ({ status }) => status.updatedReplicas ?? 0,
    Available: ({ status }) => status.availableReplicas ?? 0,
    Containers: ({ spec }) => containerNames(spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.template.spec.containers),
    Selector: ({ spec }) => parsedSelector(spec.selector)?.toString() ?? '<invalid>',
  },
});

function normalizeRollback(annotations: Record<string, string>): void {
  const revision = annotations[ROLLBACK_TO];
  if (revision === undefined) return;
  const parsed = revision === '' ? undefined : readCount(revision);
  if (typeof parsed === 'string')
    throw badRequest(
      `Deployment in version "v1" cannot be handled as a Deployment: failed to parse annotation[${ROLLBACK_TO}]=${revision} as int64: ${parsed}`,
    );
  if (parsed === undefined) delete annotations[ROLLBACK_TO];
  else annotations[ROLLBACK_TO] = String(parsed);
}

function defaultStrategy(strategy: DeploymentStrategy): void {
  strategy.type ||= ROLLING_UPDATE;
  if (strategy.type === ROLLING_UPDATE) strategy.rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...strategy.rollingUpdate };
  // Upstream's internal type has no room for what was not given.
  else if (strategy.rollingUpdate) strategy.rollingUpdate = { maxUnavailable: 0, maxSurge: 0, ...strategy.rollingUpdate };
}

function validateSpec({ object: { metadata, spec }, old, settings, sentEmpty }: Write<Deployment>, errors: FieldErrors): void {
  validateNonNegative(spec.replicas, errors.at('replicas'));
  validateRequiredSelector(spec.selector, 'deployment', errors.at('selector'));
  validateSelectedTemplate(spec, errors, { old: old?.spec.template, settings, sentEmpty: sentEmpty.at('spec', 'template') });
  validateStrategy(spec.strategy, errors.at('strategy'));
  validateNonNegative(spec.minReadySeconds, errors.at('minReadySeconds'));
  validateNonNegative(spec.revisionHistoryLimit, errors.at('revisionHistoryLimit'));
  const rollback = metadata.annotations?.[ROLLBACK_TO];
  if (rollback) validateNonNegative(Number(rollback), errors.at('rollback', 'version'));
  validateProgressDeadline(spec, errors.at('progressDeadlineSeconds'));
}

function validateProgressDeadline({ progressDeadlineSeconds, minReadySeconds = 0 }: DeploymentSpec, errors: FieldErrors): void {
  if (progressDeadlineSeconds === undefined) return;
  validateNonNegative(progressDeadlineSeconds, errors);
  if (progressDeadlineSeconds <= minReadySeconds) errors.invalid(progressDeadlineSeconds, 'must be greater than minReadySeconds');
}

function validateStrategy(strategy: DeploymentStrategy, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  const at = errors.at('rollingUpdate');
  if (type === RECREATE) {
    if (rollingUpdate) at.forbidden(`may not be specified when strategy \`type\` is '${RECREATE}'`);
  } else if (type === ROLLING_UPDATE) {
    if (rollingUpdate) validateRollingUpdate(rollingUpdate, at);
    else at.required('this should be defaulted and never be nil');
  } else errors.notSupported(internalForm(strategy, ROLLING_STRATEGY), [RECREATE, ROLLING_UPDATE]);
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, errors: FieldErrors): void {
  const at = errors.at('maxUnavailable');
  validateIntOrPercent(maxUnavailable, at);
  validateIntOrPercent(maxSurge, errors.at('maxSurge'));
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) invalidIntOrPercent(maxUnavailable, 'may not be 0 when `maxSurge` is 0', at);
  validateAtMost100Percent(maxUnavailable, at);
}

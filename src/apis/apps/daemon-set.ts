import type { Write } from '../../registry/write.ts';
import { badRequest } from '../../api/errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields, podTemplateWarnings, validatePodTemplateSpec } from '../core/pod/template.ts';
import { defineResource } from '../define.ts';
import type { DaemonSet, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from '../facts/types/apps-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { amountOf, invalidIntOrPercent, validateAtMost100Percent, validateIntOrPercent } from '../validation/int-or-percent.ts';
import { internalForm } from '../validation/internal-form.ts';
import { formatLabelSelector, formatLabels, hasInvalidLabelValue, parsedSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { readCount } from './annotation-count.ts';
import {
  ROLLING_STRATEGY,
  type StatusCounts,
  containerImages,
  containerNames,
  validateCollisionCount,
  validateCounts,
  validateMatches,
  validateNotEmpty,
  validateRunsForever,
  validateSameSelector,
} from './workload.ts';

const ON_DELETE = 'OnDelete';
const ROLLING_UPDATE = 'RollingUpdate';
/** What was a field of older versions: how often the template has changed. The server keeps it, whatever clients write. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const STATUS: StatusCounts = {
  nonNegative: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
  atMost: [],
};

/** One pod of a template on every node. */
export const daemonSets = defineResource<DaemonSet>('apps/v1/daemonsets', {
  validatesFinalizerNames: true,
  emptyObject: { annotations: { [TEMPLATE_GENERATION]: '0' } },
  generation: 'spec',

  table: { unlistedAnnotation: TEMPLATE_GENERATION },
  default(daemonSet, context) {
    const { metadata, spec } = daemonSet;
    checkTemplateGeneration(metadata.annotations?.[TEMPLATE_GENERATION]);
    // Upstream's conversion writes it into whatever a client sends, who is then its owner.
    setTemplateGeneration(daemonSet, templateGeneration(daemonSet));
    defaultUpdateStrategy(spec.updateStrategy);
    spec.revisionHistoryLimit ??= 10;
    defaultPodTemplateSpec(spec.template, context);
  },

  prepareForCreate({ object: daemonSet, settings }) {
    dropGatedTemplateFields(daemonSet.spec.template, undefined, settings);
    const given = templateGeneration(daemonSet);
    setTemplateGeneration(daemonSet, given < 1n ? 1n : given);
  },
  prepareForUpdate({ object: daemonSet, old, settings }) {
    dropGatedTemplateFields(daemonSet.spec.template, old.spec.template, settings);
    const isChanged = !equalJson(daemonSet.spec.template, old.spec.template);
    setTemplateGeneration(daemonSet, templateGeneration(old) + (isChanged ? 1n : 0n));
  },

  validate: (write, errors) => validateSpec(write, errors.at('spec')),
  validateUpdate(write, errors) {
    const { object: daemonSet, old } = write;
    validateSameSelector(daemonSet.spec.selector, old.spec.selector, errors.at('spec', 'selector'));
    validateSpec(write, errors.at('spec'));
  },
  warnings({ object: daemonSet, old }) {
    return old && templateGeneration(old) === templateGeneration(daemonSet) ? [] : podTemplateWarnings(daemonSet.spec.template, 'spec.template');
  },

  subresources: {
    status: {
      update: {
        prepareForUpdate: ({ object: daemonSet, old }) => setTemplateGeneration(daemonSet, templateGeneration(old)),
        validateUpdate({ object: { metadata, status }, old }, errors) {
          validateFinalizerNames(metadata, errors);
          validateCounts(status, STATUS, errors.at('status'));
          validateCollisionCount(status, old.status, errors.at('status'));
        },
      },
    },
  },

  cells: {
    Desired: ({ status }) => status.desiredNumberScheduled,
    Current: ({ status }) => status.currentNumberScheduled,
    Ready: ({ status }) => status.numberReady,
    'Up-to-date': ({ status }) => status.updatedNumberScheduled ?? 0,
    Available: ({ status }) => status.numberAvailable ?? 0,
    'Node Selector': ({ spec }) => formatLabels(spec.template.spec.nodeSelector),
    Containers: ({ spec }) => containerNames(spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.template.spec.containers),
    Selector: ({ spec }) => formatLabelSelector(spec.selector),
  },
});

function checkTemplateGeneration(text: string | undefined): void {
  const parsed = text === undefined ? 0n : readCount(text);
  if (typeof parsed === 'string') throw badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${parsed}`);
}

function templateGeneration({ metadata }: DaemonSet): bigint {
  const parsed = readCount(metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
  return typeof parsed === 'string' ? 0n : parsed;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: bigint): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function defaultUpdateStrategy(strategy: DaemonSetUpdateStrategy): void {
  strategy.type ||= ROLLING_UPDATE;
  if (strategy.type === ROLLING_UPDATE) strategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...strategy.rollingUpdate };
  // Upstream's internal type has no room for what was not given.
  else if (strategy.rollingUpdate) strategy.rollingUpdate = { maxUnavailable: 0, maxSurge: 0, ...strategy.rollingUpdate };
}

function validateSpec({ object: { spec }, old, settings, sentEmpty }: Write<DaemonSet>, errors: FieldErrors): void {
  const at = errors.at('template');
  validateLabelSelector(spec.selector, errors.at('selector'), { allowInvalidValues: hasInvalidLabelValue(old?.spec.selector) });
  const selector = parsedSelector(spec.selector);
  validateMatches(selector?.matches(spec.template.metadata.labels) ?? true, spec.template, at);
  if (spec.selector) validateNotEmpty(spec.selector, 'daemonset', errors.at('selector'));
  validatePodTemplateSpec(spec.template, at, { old: old?.spec.template, settings, sentEmpty: sentEmpty.at('spec', 'template') });
  validateRunsForever(spec.template, 'DaemonSet', at);
  validateNonNegative(spec.minReadySeconds, errors.at('minReadySeconds'));
  validateUpdateStrategy(spec.updateStrategy, errors.at('updateStrategy'));
  validateNonNegative(spec.revisionHistoryLimit, errors.at('revisionHistoryLimit'));
}

function validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, errors: FieldErrors): void {
  const at = errors.at('rollingUpdate');
  if (strategy.type === ON_DELETE) return;
  if (strategy.type !== ROLLING_UPDATE) errors.notSupported(internalForm(strategy, ROLLING_STRATEGY), [ROLLING_UPDATE, ON_DELETE]);
  else if (strategy.rollingUpdate) validateRollingUpdate(strategy.rollingUpdate, at);
  else at.required();
}

/** Old pods go before new ones come, or after: not both, not neither. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, errors: FieldErrors): void {
  const [unavailable, surge] = [errors.at('maxUnavailable'), errors.at('maxSurge')];
  validateIntOrPercent(maxUnavailable, unavailable);
  validateIntOrPercent(maxSurge, surge);
  validateAtMost100Percent(maxUnavailable, unavailable);
  validateAtMost100Percent(maxSurge, surge);
  const hasUnavailable = amountOf(maxUnavailable) !== 0;
  const hasSurge = amountOf(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) invalidIntOrPercent(maxSurge, 'may not be set when maxUnavailable is non-zero', surge);
  if (!hasUnavailable && !hasSurge) unavailable.required('cannot be 0 when maxSurge is 0');
}

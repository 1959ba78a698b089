import { changeEach } from '../../util/pending.ts';
import type { KindSettings } from '../../registry/write.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import { type EmptyPaths, NOTHING_EMPTY } from '../../schema/empty-paths.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1123LabelErrors, labelName } from '../../api/names.ts';
import { scaleSubresource } from '../autoscaling/scale.ts';
import { defaultPodTemplateSpec, dropGatedTemplateFields, podTemplateWarnings, validatePodTemplateSpec } from '../core/pod/template.ts';
import { roundToThousandths } from '../core/pod/resource-lists.ts';
import { defineResource } from '../define.ts';
import type { RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy } from '../facts/types/apps-v1.ts';
import type { PersistentVolumeClaim, PodTemplateSpec } from '../facts/types/core-v1.ts';
import { isFeatureOn } from '../features.ts';
import { validateAnnotations } from '../../registry/metadata.ts';
import { validateVolumeClaimSpec } from '../validation/claim-spec.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { amountOf, invalidIntOrPercent, validateAtMost100Percent, validateIntOrPercent } from '../validation/int-or-percent.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { parsedSelector, shownSelector, validateLabelMap } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { isWholeNumber } from '../validation/resource-names.ts';
import {
  type StatusCounts,
  containerImages,
  containerNames,
  validateCollisionCount,
  validateCounts,
  validateMatches,
  validateRequiredSelector,
  validateRunsForever,
} from './workload.ts';

const ORDERED_READY = 'OrderedReady';
const PARALLEL = 'Parallel';
const ON_DELETE = 'OnDelete';
const ROLLING_UPDATE = 'RollingUpdate';
const RETAIN = 'Retain';
const RETENTION_POLICIES = [RETAIN, 'Delete'];
/** What an update may change; the rest of the spec is part of what the pods and their claims are. */
const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

const ROLLING_UPDATE_FIELDS: InternalFields = [
  ['Partition', 'partition'],
  ['MaxUnavailable', 'maxUnavailable'],
];
const STRATEGY: InternalFields = [
  ['Type', 'type'],
  ['RollingUpdate', 'rollingUpdate', ROLLING_UPDATE_FIELDS],
];

const STATUS: StatusCounts = {
  nonNegative: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas', 'observedGeneration', 'collisionCount'],
  atMost: [
    ['readyReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['currentReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['updatedReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'replicas', 'cannot be greater than status.replicas'],
    ['availableReplicas', 'readyReplicas', 'cannot be greater than status.readyReplicas'],
  ],
};

/** What is not asked of an update, since it was let in or cannot change. */
interface SpecOptions {
  settings: KindSettings;
  isUpdate: boolean;
  /** The old template was refused already by today's rules. */
  skipsTemplate: boolean;
  oldTemplate?: PodTemplateSpec;
  /** What of the spec was sent empty. */
  sentEmpty: EmptyPaths;
}

const updateRules: UpdateRules<StatefulSet> = {
  prepareForUpdate({ object: { spec }, old, settings }) {
    dropGatedTemplateFields(spec.template, old.spec.template, settings);
    dropMaxUnavailable(spec, old.spec, settings);
  },
  validateUpdate({ object: { metadata, spec }, old, settings, sentEmpty }, errors) {
    validateFinalizerNames(metadata, errors);
    const skipsTemplate = isRefused(old.spec, settings);
    validateSpec(spec, errors.at('spec'), { settings, isUpdate: true, skipsTemplate, oldTemplate: old.spec.template, sentEmpty: sentEmpty.at('spec') });
    if (!equalJson(fixedPart(spec), fixedPart(old.spec)))
      errors.at('spec').forbidden(`updates to statefulset spec for fields other than ${quotedList(CHANGEABLE)} are forbidden`);
  },
};

/** Pods with names, and claims, that stay theirs when they are replaced. */
export const statefulSets = defineResource<StatefulSet>('apps/v1/statefulsets', {
  emptyObject: { spec: { replicas: 0 } },
  ...updateRules,
  naming: { errors: labelName },
  generation: 'spec',

  default({ spec }, context) {
    spec.podManagementPolicy ||= ORDERED_READY;
    defaultUpdateStrategy(spec.updateStrategy, context.settings);
    spec.persistentVolumeClaimRetentionPolicy = { whenDeleted: RETAIN, whenScaled: RETAIN, ...spec.persistentVolumeClaimRetentionPolicy };
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
    defaultPodTemplateSpec(spec.template, context);
    changeEach(context.turns, 'claims', spec.volumeClaimTemplates, defaultClaim);
  },

  prepareForCreate({ object: { spec }, settings }) {
    dropMaxUnavailable(spec, undefined, settings);
    dropGatedTemplateFields(spec.template, undefined, settings);
  },
  validate({ object: { metadata, spec }, settings, sentEmpty }, errors) {
    validateFinalizerNames(metadata, errors);
    validateSpec(spec, errors.at('spec'), { settings, isUpdate: false, skipsTemplate: false, sentEmpty: sentEmpty.at('spec') });
  },
  warnings({ object: { metadata, spec }, old }) {
    const warnings = old && old.metadata.generation === metadata.generation ? [] : podTemplateWarnings(spec.template, 'spec.template');
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      warnings.push(...fractionWarnings(claim, `spec.volumeClaimTemplates[${index}]${old ? '.Spec' : ''}`));
    if ((spec.revisionHistoryLimit ?? 0) < 0)
      warnings.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended');
    return warnings;
  },

  subresources: {
    status: {
      update: {
        validateUpdate({ object: { metadata, status }, old }, errors) {
          validateCounts(status, STATUS, errors.at('status'));
          validateFinalizerNames(metadata, errors);
          validateCollisionCount(status, old.status, errors.at('status'));
        },
      },
    },
    scale: scaleSubresource<StatefulSet>('statefulsets.apps', ({ spec }) => parsedSelector(spec.selector)?.toString() ?? '', updateRules),
  },

  cells: {
    Ready: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    Containers: ({ spec }) => containerNames(spec.template.spec.containers),
    Images: ({ spec }) => containerImages(spec.template.spec.containers),
  },
});

const quotedList = (names: readonly string[]): string =>
  `${names
    .slice(0, -1)
    .map((name) => `'${name}'`)
    .join(', ')} and '${names.at(-1)}'`;

function defaultUpdateStrategy(strategy: StatefulSetUpdateStrategy, settings: KindSettings): void {
  if (!strategy.type) {
    strategy.type = ROLLING_UPDATE;
    strategy.rollingUpdate ??= {};
  }
  if (!strategy.rollingUpdate) return;
  // Of other types too: upstream's internal type has no room for what was not given.
  strategy.rollingUpdate.partition ??= 0;
  if (strategy.type === ROLLING_UPDATE && isFeatureOn(settings, 'MaxUnavailableStatefulSet')) strategy.rollingUpdate.maxUnavailable ??= 1;
}

/** Its type is written into it, as it was when these were objects of their own (kubernetes/kubernetes#87583). */
function defaultClaim(claim: PersistentVolumeClaim): void {
  claim.kind = 'PersistentVolumeClaim';
  claim.apiVersion = 'v1';
  claim.spec.volumeMode ??= 'Filesystem';
  claim.status = { ...claim.status, phase: claim.status?.phase ?? 'Pending' };
  for (const list of [claim.spec.resources.limits, claim.spec.resources.requests, claim.status.capacity, claim.status.allocatedResources])
    roundToThousandths(list);
}

/** Storage is counted in bytes. */
function fractionWarnings({ spec: { resources } }: PersistentVolumeClaim, path: string): string[] {
  return (['requests', 'limits'] as const).flatMap((side) => {
    const quantity = resources[side]?.['storage'];
    if (quantity === undefined || isWholeNumber(quantity)) return [];
    return [`${path}.resources.${side}[storage]: fractional byte value ${quote(quantity)} is invalid, must be an integer`];
  });
}

function dropMaxUnavailable({ updateStrategy: { rollingUpdate } }: StatefulSetSpec, old: StatefulSetSpec | undefined, settings: KindSettings): void {
  if (isFeatureOn(settings, 'MaxUnavailableStatefulSet') || old?.updateStrategy.rollingUpdate?.maxUnavailable !== undefined) return;
  if (rollingUpdate) delete rollingUpdate.maxUnavailable;
}

function fixedPart(spec: StatefulSetSpec): object {
  return { ...spec, ...Object.fromEntries(CHANGEABLE.map((field) => [field, undefined])) };
}

function isRefused(spec: StatefulSetSpec, settings: KindSettings): boolean {
  const errors = new FieldErrors();
  validateSpec(spec, errors, { settings, isUpdate: true, skipsTemplate: false, oldTemplate: spec.template, sentEmpty: NOTHING_EMPTY });
  return !errors.isEmpty;
}

function validateSpec(spec: StatefulSetSpec, errors: FieldErrors, options: SpecOptions): void {
  const management = errors.at('podManagementPolicy');
  if (!spec.podManagementPolicy) management.required();
  else if (spec.podManagementPolicy !== ORDERED_READY && spec.podManagementPolicy !== PARALLEL)
    management.invalidTyped(spec.podManagementPolicy, `must be '${ORDERED_READY}' or '${PARALLEL}'`);
  validateUpdateStrategy(spec.updateStrategy, errors.at('updateStrategy'));
  validateRetention(spec, errors.at('persistentVolumeClaimRetentionPolicy'));
  if (!options.isUpdate)
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      validateVolumeClaimSpec(claim.spec, errors.at('volumeClaimTemplates').index(index).at('spec'));
  validateNonNegative(spec.replicas, errors.at('replicas'));
  validateNonNegative(spec.minReadySeconds, errors.at('minReadySeconds'));
  validateNonNegative(spec.ordinals?.start, errors.at('ordinals', 'start'));
  if (!options.isUpdate && spec.serviceName)
    for (const error of dns1123LabelErrors(spec.serviceName)) errors.at('serviceName').invalid(spec.serviceName, error);
  validateRequiredSelector(spec.selector, 'statefulset', errors.at('selector'));
  validateTemplate(spec, errors, options);
  validateRunsForever(spec.template, 'StatefulSet', errors.at('template'));
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  const at = errors.at('rollingUpdate');
  if (!type) errors.required();
  else if (type === ON_DELETE) {
    if (rollingUpdate)
      at.invalid(internalForm({ partition: 0, ...rollingUpdate }, ROLLING_UPDATE_FIELDS), `only allowed for updateStrategy '${ROLLING_UPDATE}'`);
  } else if (type === ROLLING_UPDATE) {
    if (rollingUpdate) validateRollingUpdate(rollingUpdate, at);
  } else errors.invalid(internalForm(strategy, STRATEGY), `must be '${ROLLING_UPDATE}' or '${ON_DELETE}'`);
}

function validateRollingUpdate({ partition, maxUnavailable }: RollingUpdateStatefulSetStrategy, errors: FieldErrors): void {
  validateNonNegative(partition, errors.at('partition'));
  if (maxUnavailable === undefined) return;
  const at = errors.at('maxUnavailable');
  validateIntOrPercent(maxUnavailable, at);
  if (amountOf(maxUnavailable) === 0) invalidIntOrPercent(maxUnavailable, 'cannot be 0', at);
  validateAtMost100Percent(maxUnavailable, at);
}

function validateRetention({ persistentVolumeClaimRetentionPolicy: policy }: StatefulSetSpec, errors: FieldErrors): void {
  if (!policy) return;
  for (const when of ['whenDeleted', 'whenScaled'] as const) {
    if (!RETENTION_POLICIES.includes(policy[when] ?? '')) errors.at(when).notSupported(policy[when] ?? '', RETENTION_POLICIES);
  }
}

function validateTemplate(spec: StatefulSetSpec, errors: FieldErrors, { settings, skipsTemplate, oldTemplate, sentEmpty }: SpecOptions): void {
  const selector = parsedSelector(spec.selector);
  if (selector === undefined) return errors.at('selector').invalid(shownSelector(spec.selector), '');
  const at = errors.at('template');
  const template = asMade(spec);
  validateMatches(selector.isEmpty || selector.matches(template.metadata.labels), template, at);
  if (!skipsTemplate) validatePodTemplateSpec(template, at, { old: oldTemplate, settings, sentEmpty: sentEmpty.at('template') });
  // Asked a second time, as the reference does.
  validateLabelMap(template.metadata.labels ?? {}, at.at('labels'));
  validateAnnotations(template.metadata.annotations, at.at('annotations'));
}

/** The template as the controller makes pods of it: their host names are its own business, and the claims are volumes, first among them. */
function asMade({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  if (!template.spec.subdomain && !template.spec.hostname && volumeClaimTemplates.length === 0) return template;
  const { subdomain, hostname, ...spec } = template.spec;
  void [subdomain, hostname];
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata.name ?? ''));
  const claims = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = [...claims, ...(spec.volumes ?? []).filter(({ name }) => !names.has(name))];
  return { ...template, spec: { ...spec, ...(volumes.length > 0 && { volumes }) } };
}

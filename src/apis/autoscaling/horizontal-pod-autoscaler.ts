import type { KindSettings } from '../../registry/write.ts';
import type { EmptyPaths } from '../../schema/empty-paths.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type {
  HPAScalingPolicy,
  HPAScalingRules,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
} from '../facts/types/autoscaling-v2.ts';
import { isFeatureOn } from '../features.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { targetsCell } from './metric-targets.ts';
import { type ReferenceOptions, apiVersionError, validateMetrics, validateObjectReference } from './metrics.ts';
import { DEFAULT_CPU_PERCENT, dropRoundTripAnnotations, fromVersion1, toVersion1 } from './version-1.ts';

const PERIOD_SECONDS_MAX = 1_800;
const STABILIZATION_SECONDS_MAX = 3_600;
const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];

/** Up at once, by four pods or to twice as many; down by as much as need be. How long to wait before is the controller's own setting. */
const scaleUpRules = (): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
});
const scaleDownRules = (): HPAScalingRules => ({ selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] });

/** A list that was sent empty is not filled in: validation asks for its policies. */
const sentRules = (rules: HPAScalingRules | undefined, sentEmpty: EmptyPaths): HPAScalingRules | undefined =>
  rules && sentEmpty.has('policies') ? { ...rules, policies: [] } : rules;

const GATED: GatedFields = [['HPAConfigurableTolerance', ['spec.behavior.scaleUp.tolerance', 'spec.behavior.scaleDown.tolerance']]];

/** How many replicas something has, by what is measured. Stored as v2; v1 knows CPU only, and carries the rest along in annotations. */
export const horizontalPodAutoscalers = defineResource<HorizontalPodAutoscaler>('autoscaling/v2/horizontalpodautoscalers', {
  validatesFinalizerNames: true,
  alsoServed: [
    {
      group: 'autoscaling',
      version: 'v1',
      default(object) {
        const { spec } = object as unknown as { spec: { minReplicas?: number } };
        spec.minReplicas ??= 1;
      },
      toStored: fromVersion1,
      fromStored: toVersion1,
    },
  ],

  default({ metadata, spec }, { sentEmpty }) {
    dropRoundTripAnnotations(metadata);
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0)
      spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: DEFAULT_CPU_PERCENT } } }];
    if (!spec.behavior) return;
    const emptyIn = sentEmpty.at('spec', 'behavior');
    spec.behavior.scaleUp = { ...scaleUpRules(), ...sentRules(spec.behavior.scaleUp, emptyIn.at('scaleUp')) };
    spec.behavior.scaleDown = { ...scaleDownRules(), ...sentRules(spec.behavior.scaleDown, emptyIn.at('scaleDown')) };
  },

  prepareForCreate: ({ object: autoscaler, settings }) => dropGatedFields(GATED, autoscaler, undefined, settings),
  prepareForUpdate: ({ object: autoscaler, old, settings }) => dropGatedFields(GATED, autoscaler, old, settings),

  validate: ({ object: { spec }, settings }, errors) => validateSpec(spec, undefined, errors.at('spec'), settings),
  validateUpdate: ({ object: { spec }, old, settings }, errors) => validateSpec(spec, old.spec, errors.at('spec'), settings),

  subresources: {
    status: {
      update: {
        validateUpdate({ object: { metadata, status } }, errors) {
          validateFinalizerNames(metadata, errors);
          validateNonNegative(status.currentReplicas, errors.at('status', 'currentReplicas'));
          validateNonNegative(status.desiredReplicas, errors.at('status', 'desiredReplicas'));
        },
      },
    },
  },

  cells: {
    Reference: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    Targets: targetsCell,
    MinPods: ({ spec }) => (spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas)),
    MaxPods: ({ spec }) => spec.maxReplicas,
    Replicas: ({ status }) => status.currentReplicas ?? 0,
  },
});

function validateSpec(spec: HorizontalPodAutoscalerSpec, old: HorizontalPodAutoscalerSpec | undefined, errors: FieldErrors, settings: KindSettings): void {
  const { minReplicas, maxReplicas } = spec;
  const lowest = isFeatureOn(settings, 'HPAScaleToZero') || old?.minReplicas === 0 ? 0 : 1;
  if (minReplicas !== undefined && minReplicas < lowest) errors.at('minReplicas').invalid(minReplicas, `must be greater than or equal to ${lowest}`);
  const most = errors.at('maxReplicas');
  if (maxReplicas === 0) most.required('must be set and greater than 0');
  else if (maxReplicas < 0) most.invalid(maxReplicas, 'must be greater than or equal to 1');
  if (minReplicas !== undefined && maxReplicas < minReplicas) most.invalid(maxReplicas, 'must be greater than or equal to `minReplicas`');
  validateObjectReference(spec.scaleTargetRef, targetOptions(spec, old), errors.at('scaleTargetRef'));
  validateMetrics(spec.metrics ?? [], minReplicas, describedObjectOptions(old), errors.at('metrics'));
  validateBehavior(spec.behavior, errors.at('behavior'));
}

/** Only one kind of the core group can be scaled. An unchanged kind is let be. */
function targetOptions({ scaleTargetRef }: HorizontalPodAutoscalerSpec, old: HorizontalPodAutoscalerSpec | undefined): ReferenceOptions {
  const former = old?.scaleTargetRef;
  const isUnchanged = former !== undefined && former.kind === scaleTargetRef.kind && (former.apiVersion ?? '') === (scaleTargetRef.apiVersion ?? '');
  return { allowsInvalidApiVersion: isUnchanged, allowsEmptyGroup: scaleTargetRef.kind === 'ReplicationController' };
}

function describedObjectOptions(old: HorizontalPodAutoscalerSpec | undefined): ReferenceOptions {
  const options = { allowsInvalidApiVersion: false, allowsEmptyGroup: true };
  const wasInvalid = (old?.metrics ?? []).some(
    ({ type, object }) => type === 'Object' && object && apiVersionError(object.describedObject, options) !== undefined,
  );
  return { ...options, allowsInvalidApiVersion: wasInvalid };
}

function validateBehavior(behavior: HorizontalPodAutoscalerBehavior | undefined, errors: FieldErrors): void {
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const rules = behavior?.[direction];
    if (rules) validateScalingRules(rules, errors.at(direction));
  }
}

function validateScalingRules({ stabilizationWindowSeconds, selectPolicy, policies = [], tolerance }: HPAScalingRules, errors: FieldErrors): void {
  const at = errors.at('stabilizationWindowSeconds');
  if (stabilizationWindowSeconds !== undefined && stabilizationWindowSeconds < 0)
    at.invalid(stabilizationWindowSeconds, 'must be greater than or equal to zero');
  if (stabilizationWindowSeconds !== undefined && stabilizationWindowSeconds > STABILIZATION_SECONDS_MAX)
    at.invalid(stabilizationWindowSeconds, `must be less than or equal to ${STABILIZATION_SECONDS_MAX}`);
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy)) errors.at('selectPolicy').notSupported(selectPolicy, SELECT_POLICIES);
  if (policies.length === 0) errors.at('policies').required('must specify at least one Policy');
  for (const [index, policy] of policies.entries()) validatePolicy(policy, errors.at('policies').index(index));
  if (tolerance?.startsWith('-')) errors.at('tolerance').invalid(tolerance, 'must be greater than or equal to 0');
}

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, errors: FieldErrors): void {
  if (!POLICY_TYPES.includes(type)) errors.at('type').notSupported(type, POLICY_TYPES);
  if (value <= 0) errors.at('value').invalid(value, 'must be greater than zero');
  if (periodSeconds <= 0) errors.at('periodSeconds').invalid(periodSeconds, 'must be greater than zero');
  if (periodSeconds > PERIOD_SECONDS_MAX) errors.at('periodSeconds').invalid(periodSeconds, `must be less than or equal to ${PERIOD_SECONDS_MAX}`);
}

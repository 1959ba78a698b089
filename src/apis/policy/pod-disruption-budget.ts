import { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type { LabelSelector } from '../facts/types/meta-v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../facts/types/policy-v1.ts';
import { validateOptionalChoice } from '../validation/choice.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateAtMost100Percent, validateIntOrPercent } from '../validation/int-or-percent.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { shownSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

/** In v1beta1 an empty selector matched nothing; objects of that time say so with this label, which is for nothing else. */
const FORMER_EMPTY_SELECTOR = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];
const SPEC: InternalFields = [
  ['MinAvailable', 'minAvailable'],
  ['Selector', 'selector'],
  ['MaxUnavailable', 'maxUnavailable'],
  ['UnhealthyPodEvictionPolicy', 'unhealthyPodEvictionPolicy'],
];

/** How many of some pods may be evicted at a time. Its name follows no rule but that it fits a path. */
export const podDisruptionBudgets = defineResource<PodDisruptionBudget>('policy/v1/poddisruptionbudgets', {
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  validatesMetadata: false,

  default({ spec }) {
    if (spec.selector) stripFormerLabel(spec.selector);
  },

  validate({ object: { spec } }, errors) {
    validateSpec(spec, errors.at('spec'), false);
  },
  validateUpdate({ object: { spec }, old }, errors) {
    const former = new FieldErrors();
    validateLabelSelector(old.spec.selector, former);
    validateSpec(spec, errors.at('spec'), !former.isEmpty);
  },

  subresources: {
    status: {
      update: {
        validatesMetadata: false,
        validateUpdate({ object: { status } }, errors) {
          const at = errors.at('status');
          validateConditions(status.conditions, at.at('conditions'));
          for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const)
            validateNonNegative(status[field], at.at(field));
        },
      },
    },
  },

  cells: {
    'Min Available': ({ spec }) => String(spec.minAvailable ?? 'N/A'),
    'Max Unavailable': ({ spec }) => String(spec.maxUnavailable ?? 'N/A'),
    'Allowed Disruptions': ({ status }) => status.disruptionsAllowed,
  },
});

/** Alone it is kept; beside other terms it means nothing. */
function stripFormerLabel(selector: LabelSelector): void {
  const expressions = selector.matchExpressions ?? [];
  const isAlone =
    expressions.length === 1 &&
    Object.keys(selector.matchLabels ?? {}).length === 0 &&
    (expressions[0]!.values ?? []).length === 0 &&
    /^(Exists|DoesNotExist)$/.test(expressions[0]!.operator);
  if (!isAlone && expressions.some(({ key }) => key === FORMER_EMPTY_SELECTOR))
    selector.matchExpressions = expressions.filter(({ key }) => key !== FORMER_EMPTY_SELECTOR);
}

function validateSpec(spec: PodDisruptionBudgetSpec, errors: FieldErrors, allowInvalidValues: boolean): void {
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.invalid(internalForm({ ...spec, selector: shownSelector(spec.selector) }, SPEC), 'minAvailable and maxUnavailable cannot be both set');
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[field];
    if (value === undefined) continue;
    validateIntOrPercent(value, errors.at(field));
    validateAtMost100Percent(value, errors.at(field));
  }
  validateLabelSelector(spec.selector, errors.at('selector'), { allowInvalidValues });
  validateOptionalChoice(spec.unhealthyPodEvictionPolicy, EVICTION_POLICIES, errors.at('unhealthyPodEvictionPolicy'));
}

import { FieldErrors } from '../../../util/field-errors.ts';
import type { TopologySpreadConstraint } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';
import { validateLabelKey } from '../../validation/label-key.ts';
import { validateLabelSelector } from '../../validation/label-selector.ts';
import { validateLabelKeys } from './affinity.ts';
import type { PodRules } from './rules.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], errors: FieldErrors, rules: PodRules): void {
  const lastOf = new Map(constraints.map(({ topologyKey, whenUnsatisfiable }, index) => [`{${topologyKey}, ${whenUnsatisfiable}}`, index]));
  for (const [index, constraint] of constraints.entries()) {
    const at = errors.index(index);
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
    validatePositive(maxSkew, at.at('maxSkew'));
    if (topologyKey === '') at.at('topologyKey').required('can not be empty');
    if (!ACTIONS.includes(whenUnsatisfiable)) at.at('whenUnsatisfiable').notSupported(whenUnsatisfiable, ACTIONS);
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (lastOf.get(pair) !== index) at.at('{topologyKey, whenUnsatisfiable}').duplicate(pair);
    if (minDomains !== undefined) validateMinDomains(minDomains, whenUnsatisfiable, at.at('minDomains'));
    validateOptionalChoice(constraint.nodeAffinityPolicy, POLICIES, at.at('nodeAffinityPolicy'));
    validateOptionalChoice(constraint.nodeTaintsPolicy, POLICIES, at.at('nodeTaintsPolicy'));
    if (rules.judgesLabelKeysAsBefore) validateLabelKeysAsBefore(constraint, at.at('matchLabelKeys'));
    else validateLabelKeys(constraint, at);
    if (!rules.allowsInvalidSpreadSelectors) validateLabelSelector(constraint.labelSelector, at.at('labelSelector'));
  }
}

function validatePositive(value: number, errors: FieldErrors): void {
  if (value <= 0) errors.invalid(value, 'must be greater than zero');
}

function validateMinDomains(minDomains: number, action: string, errors: FieldErrors): void {
  validatePositive(minDomains, errors);
  if (action !== 'DoNotSchedule') errors.invalid(minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

/** Before v1.34 the keys were not written into the selector, so it could not have them at all. */
function validateLabelKeysAsBefore({ matchLabelKeys = [], labelSelector }: TopologySpreadConstraint, errors: FieldErrors): void {
  if (matchLabelKeys.length === 0) return;
  if (!labelSelector) errors.forbidden('must not be specified when labelSelector is not set');
  const known = new Set([...Object.keys(labelSelector?.matchLabels ?? {}), ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key)]);
  for (const [index, key] of matchLabelKeys.entries()) {
    validateLabelKey(key, errors.index(index));
    if (known.has(key)) errors.index(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
  }
}

export function hasInvalidSpreadSelectors(constraints: readonly TopologySpreadConstraint[] = []): boolean {
  const errors = new FieldErrors();
  for (const { labelSelector } of constraints) validateLabelSelector(labelSelector, errors);
  return !errors.isEmpty;
}

/** By the rule of before v1.34. */
export function hasInvalidFormerLabelKeys(constraints: readonly TopologySpreadConstraint[] = []): boolean {
  const errors = new FieldErrors();
  for (const constraint of constraints) validateLabelKeysAsBefore(constraint, errors);
  return !errors.isEmpty;
}

export function hasInvalidMatchLabelKeys(constraints: readonly TopologySpreadConstraint[] = []): boolean {
  const errors = new FieldErrors();
  for (const constraint of constraints) validateLabelKeys(constraint, errors);
  return !errors.isEmpty;
}

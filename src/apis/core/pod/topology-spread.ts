import { FieldErrors } from '../../../api/field-errors.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type { TopologySpreadConstraint } from '../../facts/types/core-v1.ts';
import { validateOptionalChoice } from '../../validation/choice.ts';
import { validateLabelKey } from '../../validation/label-key.ts';
import { validateLabelSelector } from '../../validation/label-selector.ts';
import { validateLabelKeys } from './affinity.ts';
import type { PodRules } from './rules.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];
const POLICIES = ['Honor', 'Ignore'];

export function validateTopologySpread(constraints: readonly TopologySpreadConstraint[], errors: FieldErrors, rules: PodRules): void {
  const lastPlaces = (): Map<string, number> => new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  const check = (constraint: TopologySpreadConstraint, index: number, lastOf: ReadonlyMap<string, number>): void =>
    validateConstraint(constraint, lastOf.get(pairOf(constraint)) === index, errors.index(index), rules);
  checkEach(errors, 'constraints', constraints, check, lastPlaces);
}

const pairOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string => `{${topologyKey}, ${whenUnsatisfiable}}`;

function validateConstraint(constraint: TopologySpreadConstraint, isLastOfPair: boolean, errors: FieldErrors, rules: PodRules): void {
  const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
  validatePositive(maxSkew, errors.at('maxSkew'));
  if (topologyKey === '') errors.at('topologyKey').required('can not be empty');
  if (!ACTIONS.includes(whenUnsatisfiable)) errors.at('whenUnsatisfiable').notSupported(whenUnsatisfiable, ACTIONS);
  if (!isLastOfPair) errors.at('{topologyKey, whenUnsatisfiable}').duplicate(pairOf(constraint));
  if (minDomains !== undefined) validateMinDomains(minDomains, whenUnsatisfiable, errors.at('minDomains'));
  validateOptionalChoice(constraint.nodeAffinityPolicy, POLICIES, errors.at('nodeAffinityPolicy'));
  validateOptionalChoice(constraint.nodeTaintsPolicy, POLICIES, errors.at('nodeTaintsPolicy'));
  if (rules.checksLabelKeysAsBefore) validateLabelKeysAsBefore(constraint, errors.at('matchLabelKeys'));
  else validateLabelKeys(constraint, errors);
  if (!rules.allowsInvalidSpreadSelectors) validateLabelSelector(constraint.labelSelector, errors.at('labelSelector'));
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

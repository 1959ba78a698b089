import { FieldErrors } from '../../../api/field-errors.ts';
import { labelName, labelValueErrors, subdomainName } from '../../../api/names.ts';
import { checkEach } from '../../../api/validation-run.ts';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  WeightedPodAffinityTerm,
} from '../../facts/types/core-v1.ts';
import type { LabelSelector } from '../../facts/types/meta-v1.ts';
import { validateLabelKey } from '../../validation/label-key.ts';
import { validateLabelSelector } from '../../validation/label-selector.ts';
import type { PodRules } from './rules.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity({ nodeAffinity, podAffinity, podAntiAffinity }: Affinity, errors: FieldErrors, rules: PodRules): void {
  if (nodeAffinity) validateNodeAffinity(nodeAffinity, errors.at('nodeAffinity'), rules);
  if (podAffinity) validatePodAffinity(podAffinity, errors.at('podAffinity'), rules);
  if (podAntiAffinity) validatePodAffinity(podAntiAffinity, errors.at('podAntiAffinity'), rules);
}

function validateNodeAffinity(affinity: NodeAffinity, errors: FieldErrors, { allowsInvalidNodeAffinityValues }: PodRules): void {
  const required = affinity[REQUIRED];
  if (required) validateNodeSelector(required, errors.at(REQUIRED), allowsInvalidNodeAffinityValues);
  for (const [index, { weight, preference }] of (affinity[PREFERRED] ?? []).entries()) {
    const at = errors.at(PREFERRED).index(index);
    validateWeight(weight, at.at('weight'));
    // What no node matches does no harm here, so values may be anything.
    validateNodeSelectorTerm(preference, at.at('preference'), true);
  }
}

function validateWeight(weight: number, errors: FieldErrors): void {
  if (weight <= 0 || weight > 100) errors.invalid(weight, 'must be in the range 1-100');
}

/** Of a pod's affinity, and of the nodes that can reach a volume. */
export function validateNodeSelector({ nodeSelectorTerms }: NodeSelector, errors: FieldErrors, allowsInvalidValues: boolean): void {
  const terms = nodeSelectorTerms ?? [];
  if (terms.length === 0) return errors.at('nodeSelectorTerms').required('must have at least one node selector term');
  checkEach(errors, 'terms', terms, (term, index) => validateNodeSelectorTerm(term, errors.at('nodeSelectorTerms').index(index), allowsInvalidValues));
}

function validateNodeSelectorTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, errors: FieldErrors, allowsInvalidValues: boolean): void {
  checkEach(errors, 'matchExpressions', matchExpressions, (requirement, index) =>
    validateNodeRequirement(requirement, errors.at('matchExpressions').index(index), allowsInvalidValues),
  );
  checkEach(errors, 'matchFields', matchFields, (requirement, index) => validateNodeField(requirement, errors.at('matchFields').index(index)));
}

function validateNodeRequirement({ key, operator, values = [] }: NodeSelectorRequirement, errors: FieldErrors, allowsInvalidValues: boolean): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) errors.at('values').required("must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) errors.at('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) errors.at('values').required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      break;
    default:
      errors.at('operator').invalidTyped(operator, 'not a valid selector operator');
  }
  validateLabelKey(key, errors.at('key'));
  if (allowsInvalidValues) return;
  for (const [index, value] of values.entries()) for (const error of labelValueErrors(value)) errors.at('values').index(index).invalid(value, error);
}

function validateNodeField({ key, operator, values = [] }: NodeSelectorRequirement, errors: FieldErrors): void {
  if (operator !== 'In' && operator !== 'NotIn') errors.at('operator').invalidTyped(operator, 'not a valid selector operator');
  else if (values.length !== 1) errors.at('values').required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  if (key !== 'metadata.name') return errors.at('key').invalid(key, 'not a valid field selector key');
  for (const [index, value] of values.entries()) for (const error of subdomainName(value, false)) errors.at('values').index(index).invalid(value, error);
}

function validatePodAffinity(affinity: PodAffinity, errors: FieldErrors, rules: PodRules): void {
  checkEach(errors, REQUIRED, affinity[REQUIRED] ?? [], (term, index) => validatePodAffinityTerm(term, errors.at(REQUIRED).index(index), rules));
  checkEach(errors, PREFERRED, affinity[PREFERRED] ?? [], ({ weight, podAffinityTerm }, index) => {
    const at = errors.at(PREFERRED).index(index);
    validateWeight(weight, at.at('weight'));
    validatePodAffinityTerm(podAffinityTerm, at.at('podAffinityTerm'), rules);
  });
}

function validatePodAffinityTerm(term: PodAffinityTerm, errors: FieldErrors, { allowsInvalidAffinityValues }: PodRules): void {
  validateTermSelectors(term, errors, allowsInvalidAffinityValues);
  for (const name of term.namespaces ?? []) for (const error of labelName(name, false)) errors.at('namespace').invalid(name, error);
  validateLabelKeys(term, errors);
  if (term.topologyKey === '') errors.at('topologyKey').required('can not be empty');
  validateLabelKey(term.topologyKey, errors.at('topologyKey'));
}

function validateTermSelectors({ labelSelector, namespaceSelector }: PodAffinityTerm, errors: FieldErrors, allowInvalidValues: boolean): void {
  validateLabelSelector(labelSelector, errors.at('labelSelector'), { allowInvalidValues });
  validateLabelSelector(namespaceSelector, errors.at('namespaceSelector'), { allowInvalidValues });
}

interface KeyedSelector {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

/**
 * Keys whose values are taken from the pod (KEP-3633). By now the selector holds what they stand for, so a key that it has once more was given by the
 * client too.
 */
export function validateLabelKeys({ labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: KeyedSelector, errors: FieldErrors): void {
  validateKeyNames(matchLabelKeys, labelSelector, errors.at('matchLabelKeys'));
  validateKeyNames(mismatchLabelKeys, labelSelector, errors.at('mismatchLabelKeys'));
  if (labelSelector) validateKeysOnce(matchLabelKeys, labelSelector, errors);
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries())
    if (mismatched.has(key)) errors.at('matchLabelKeys').index(index).invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
}

function validateKeyNames(keys: readonly string[], selector: LabelSelector | undefined, errors: FieldErrors): void {
  if (keys.length === 0) return;
  if (!selector) return errors.forbidden('must not be specified when labelSelector is not set');
  checkEach(errors, 'keys', keys, (key, index) => validateLabelKey(key, errors.index(index)));
}

function validateKeysOnce(keys: readonly string[], { matchLabels, matchExpressions = [] }: LabelSelector, errors: FieldErrors): void {
  const seen = new Set(Object.keys(matchLabels ?? {}));
  const places = new Map(keys.map((key, index) => [key, index]));
  for (const { key } of matchExpressions) {
    const index = places.get(key);
    if (index !== undefined && seen.has(key)) errors.index(index).invalid(key, 'exists in both matchLabelKeys and labelSelector');
    seen.add(key);
  }
}

/** Every term of affinity to or against pods. */
export function* podAffinityTerms({ podAffinity, podAntiAffinity }: Affinity): Generator<PodAffinityTerm> {
  for (const affinity of [podAffinity, podAntiAffinity]) {
    for (const { podAffinityTerm } of (affinity?.[PREFERRED] ?? []) as WeightedPodAffinityTerm[]) yield podAffinityTerm;
    yield* affinity?.[REQUIRED] ?? [];
  }
}

export function hasInvalidAffinityValues(affinity: Affinity | undefined): boolean {
  const errors = new FieldErrors();
  for (const term of podAffinityTerms(affinity ?? {})) validateTermSelectors(term, errors, false);
  return !errors.isEmpty;
}

export function hasInvalidNodeAffinityValues(affinity: Affinity | undefined): boolean {
  const terms = affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  return terms.some(({ matchExpressions = [] }) => matchExpressions.some(({ values = [] }) => values.some((value) => labelValueErrors(value).length > 0)));
}

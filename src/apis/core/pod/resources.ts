import type { FieldErrors } from '../../../api/field-errors.ts';
import { dns1123LabelErrors } from '../../../api/names.ts';
import { compareQuantities, formatQuantity, parseQuantity } from '../../../api/quantity.ts';
import type { PodSpec, ResourceClaim, ResourceRequirements } from '../../facts/types/core-v1.ts';
import {
  isDivisibleHugePages,
  isHugePages,
  isOvercommitAllowed,
  validateContainerResourceName,
  validatePodResourceName,
  validateResourceQuantity,
} from '../../validation/resource-names.ts';
import { aggregateContainers } from './resource-lists.ts';
import type { PodRules } from './rules.ts';

const NO_CLAIMS: ReadonlySet<string> = new Set();

type NameCheck = (name: string, errors: FieldErrors) => void;

/** `claimNames` are the pod's resource claims, which containers refer to. */
export function validateContainerResources(resources: ResourceRequirements, claimNames: ReadonlySet<string>, errors: FieldErrors, rules: PodRules): void {
  validateRequirements(resources, validateContainerResourceName, claimNames, errors, rules);
}

function validateRequirements(
  { limits = {}, requests = {}, claims = [] }: ResourceRequirements,
  checkName: NameCheck,
  claimNames: ReadonlySet<string>,
  errors: FieldErrors,
  rules: PodRules,
): void {
  for (const [name, quantity] of Object.entries(limits)) validateAmount(name, quantity, checkName, errors.at('limits').key(name), rules);
  for (const [name, quantity] of Object.entries(requests)) {
    const at = errors.at('requests').key(name);
    checkName(name, at);
    validateResourceQuantity(name, quantity, at);
    validateAgainstLimit(name, quantity, limits, errors);
    validateHugePages(name, quantity, at, rules);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) errors.forbidden('HugePages require cpu or memory');
  validateClaims(claims, claimNames, errors.at('claims'));
}

function validateAmount(name: string, quantity: string, checkName: NameCheck, errors: FieldErrors, rules: PodRules): void {
  checkName(name, errors);
  validateResourceQuantity(name, quantity, errors);
  validateHugePages(name, quantity, errors, rules);
}

function validateHugePages(name: string, quantity: string, errors: FieldErrors, { allowsIndivisibleHugePages }: PodRules): void {
  if (isHugePages(name) && !allowsIndivisibleHugePages && !isDivisibleHugePages(name, quantity))
    errors.invalid(quantity, `${quantity} is not positive integer multiple of ${name}`);
}

function validateAgainstLimit(name: string, request: string, limits: Record<string, string>, errors: FieldErrors): void {
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (limit === undefined) {
    if (!isOvercommitAllowed(name)) errors.at('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  if (limit === request) return;
  const order = compareQuantities(parseQuantity(request), parseQuantity(limit));
  if (order !== 0 && !isOvercommitAllowed(name)) errors.at('requests').invalid(request, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) errors.at('requests').invalid(request, `must be less than or equal to ${name} limit of ${limit}`);
}

/** A claim may be used whole, or request by request; not both. */
function validateClaims(claims: readonly ResourceClaim[], claimNames: ReadonlySet<string>, errors: FieldErrors): void {
  const used = new Set<string>();
  const requestCounts = new Map<string, number>();
  let known: string | undefined;
  for (const [index, { name, request = '' }] of claims.entries()) {
    const at = errors.index(index);
    if (name === '') {
      at.required();
      continue;
    }
    if (used.has(name)) at.duplicate(name);
    else {
      if (request !== '') for (const error of dns1123LabelErrors(request)) at.at('request').invalid(request, error);
      const key = request === '' ? name : `${name}/${request}`;
      if (used.has(key)) at.duplicate(key);
      else {
        if (request === '') for (let count = requestCounts.get(name) ?? 0; count > 0; count--) at.duplicate(name);
        // Upstream tells a claim's requests by the first slash, which a name that is refused may have too.
        const [claim, ...rest] = key.split('/', 2);
        if (rest.length > 0) requestCounts.set(claim!, (requestCounts.get(claim!) ?? 0) + 1);
      }
      used.add(key);
    }
    if (!claimNames.has(name)) at.notFound(name, (known ??= `must be one of the names in pod.spec.resourceClaims${printNames(claimNames)}`));
  }
}

/** Of so many that a message stays readable. */
const MAX_SHOWN_NAMES = 100;

const printNames = (names: ReadonlySet<string>): string =>
  names.size === 0 ? ' which is empty' : `: ${[...names].toSorted().slice(0, MAX_SHOWN_NAMES).join(', ')}`;

/** What the pod as a whole may use must cover its containers (KEP-2837). `errors` stands at the spec. */
export function validatePodResources(
  spec: PodSpec,
  resources: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  errors: FieldErrors,
  rules: PodRules,
): void {
  const at = errors.at('resources');
  if (spec.os?.name === 'windows') return at.forbidden('may not be set for a windows pod');
  if (resources.claims) at.at('claims').forbidden('claims may not be set for Resources at pod-level');
  validateRequirements(resources, validatePodResourceName, claimNames, at, rules);
  validateCovers(spec, resources, 'requests', () => true, at);
  validateCovers(spec, resources, 'limits', isHugePages, at);
  for (const [index, container] of (spec.containers ?? []).entries()) validateWithinPod(container.resources, resources, index, at);
}

function validateCovers(
  spec: PodSpec,
  resources: ResourceRequirements,
  side: 'requests' | 'limits',
  isCounted: (name: string) => boolean,
  errors: FieldErrors,
): void {
  const ofPod = resources[side] ?? {};
  for (const [name, needed] of aggregateContainers(spec, side)) {
    if (!isCounted(name) || !Object.hasOwn(ofPod, name)) continue;
    if (compareQuantities(needed, parseQuantity(ofPod[name]!)) <= 0) continue;
    errors
      .at(side)
      .key(name)
      .invalid(ofPod[name], `must be greater than or equal to aggregate container ${side} of ${formatQuantity(needed)}`);
  }
}

function validateWithinPod({ limits = {} }: ResourceRequirements, ofPod: ResourceRequirements, index: number, errors: FieldErrors): void {
  for (const [name, limit] of Object.entries(limits)) {
    const most = ofPod.limits?.[name];
    if (most === undefined || compareQuantities(parseQuantity(limit), parseQuantity(most)) <= 0) continue;
    errors.at('containers').index(index).key(name).at('limits').invalid(limit, `must be less than or equal to pod limits of ${most}`);
  }
}

/** What running the pod itself costs, by its RuntimeClass. */
export const validateOverhead = (overhead: Record<string, string>, errors: FieldErrors, rules: PodRules): void =>
  validateContainerResources({ limits: overhead }, NO_CLAIMS, errors, rules);

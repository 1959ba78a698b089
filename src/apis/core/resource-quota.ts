import type { FieldErrors } from '../../api/field-errors.ts';
import { compareQuantities, parseQuantity } from '../../api/quantity.ts';
import { defineResource } from '../define.ts';
import type { ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, ScopedResourceSelectorRequirement } from '../facts/types/core-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { isStandardQuotaResource, validateQuotaResourceName, validateResourceQuantity } from '../validation/resource-names.ts';
import { roundToThousandths } from './pod/resource-lists.ts';
import { checkEach, once } from '../../api/validation-run.ts';
import { LIMITS } from '../../util/limits.ts';

const PODS = ['pods'];
const PODS_AND_COMPUTE = [...PODS, 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const CLAIMS = ['persistentvolumeclaims', 'requests.storage'];
/** Which resources each scope can narrow down. */
const SCOPES: Record<string, readonly string[]> = {
  Terminating: PODS_AND_COMPUTE,
  NotTerminating: PODS_AND_COMPUTE,
  BestEffort: PODS,
  NotBestEffort: PODS_AND_COMPUTE,
  PriorityClass: PODS_AND_COMPUTE,
  CrossNamespacePodAffinity: PODS_AND_COMPUTE,
  VolumeAttributesClass: CLAIMS,
};
const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;
/** Scopes that a pod is in or not: they have no values. */
const WITHOUT_VALUES = new Set(['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']);
const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const SELECTOR: InternalFields = [
  [
    'MatchExpressions',
    'matchExpressions',
    [
      ['ScopeName', 'scopeName', ''],
      ['Operator', 'operator', ''],
      ['Values', 'values'],
    ],
  ],
];

/** How much a namespace may use in all. */
export const resourceQuotas = defineResource<ResourceQuota>('v1/resourcequotas', {
  validatesFinalizerNames: true,
  default({ spec, status }) {
    for (const list of [spec.hard, status.hard, status.used]) roundToThousandths(list);
  },

  validate({ object: { spec, status } }, errors) {
    validateSpec(spec, errors.at('spec'));
    validateStatus(status, errors.at('status'));
  },
  validateUpdate({ object: { spec }, old }, errors) {
    validateSpec(spec, errors.at('spec'));
    const before = new Set(old.spec.scopes);
    const after = new Set(spec.scopes);
    if (before.size !== after.size || ![...after].every((scope) => before.has(scope)))
      errors.at('spec', 'scopes').invalid(spec.scopes ?? null, 'field is immutable');
  },
  warnings: ({ object: quota, old }) => (old ? [] : unpairedLimitWarnings(quota.spec.hard ?? {})),

  subresources: {
    status: {
      update: {
        validateUpdate({ object: { metadata, status } }, errors) {
          validateFinalizerNames(metadata, errors);
          validateStatus(status, errors.at('status'));
        },
      },
    },
  },

  cells: { Request: (quota) => usage(quota, false), Limit: (quota) => usage(quota, true) },
});

function validateSpec(spec: ResourceQuotaSpec, errors: FieldErrors): void {
  validateList(spec.hard, errors.at('hard'));
  if ((spec.scopes ?? []).length > 0) validateScopes(spec, errors.at('scopes'));
  if (spec.scopeSelector) validateSelector(spec, errors.at('scopeSelector', 'matchExpressions'));
}

function validateStatus(status: ResourceQuotaStatus, errors: FieldErrors): void {
  validateList(status.hard, errors.at('hard'));
  validateList(status.used, errors.at('used'));
}

function validateList(list: Record<string, string> | undefined, errors: FieldErrors): void {
  for (const [name, quantity] of Object.entries(list ?? {})) {
    validateQuotaResourceName(name, errors.key(name));
    validateResourceQuantity(name, quantity, errors.key(name));
  }
}

/** The resources that the scope says nothing about, one by one: each is an error of its own. */
const beyondScope = (scope: string, hard: Record<string, string> = {}): string[] =>
  Object.hasOwn(SCOPES, scope) ? Object.keys(hard).filter((name) => isStandardQuotaResource(name) && !SCOPES[scope]!.includes(name)) : [];

function validateScopes({ scopes = [], hard }: ResourceQuotaSpec, errors: FieldErrors): void {
  for (const scope of scopes) {
    if (!Object.hasOwn(SCOPES, scope)) errors.invalid(scopes, 'unsupported scope');
    for (const _ of beyondScope(scope, hard)) errors.invalid(scopes, 'unsupported scope applied to resource');
  }
  validateNoOpposites(scopes, scopes, errors);
}

function validateNoOpposites(scopes: readonly string[], shown: unknown, errors: FieldErrors): void {
  for (const pair of OPPOSITES) if (pair.every((scope) => scopes.includes(scope))) errors.invalid(shown, 'conflicting scopes');
}

function validateSelector({ scopeSelector, scopes, hard }: ResourceQuotaSpec, errors: FieldErrors): void {
  const requirements = scopeSelector?.matchExpressions ?? [];
  checkEach(errors, 'requirements', requirements, (requirement) => {
    const { scopeName, operator } = requirement;
    if (!Object.hasOwn(SCOPES, scopeName)) errors.at('scopeName').invalidTyped(scopeName, 'unsupported scope');
    for (const _ of beyondScope(scopeName, hard))
      errors.invalid(
        once(errors, 'shown', () => shownSelector(requirements)),
        'unsupported scope applied to resource',
      );
    if (WITHOUT_VALUES.has(scopeName) && operator !== 'Exists') errors.at('operator').invalid(operator, ONLY_EXISTS);
    validateValues(requirement, errors);
  });
  validateNoOpposites(
    requirements.map(({ scopeName }) => scopeName),
    scopes ?? null,
    errors,
  );
}

/** So many requirements, of forty characters each at the least, have more than an error shows. */
const SHOWN_REQUIREMENTS = Math.ceil(LIMITS.fieldErrorCharacters / 40);

const shownSelector = (requirements: readonly ScopedResourceSelectorRequirement[]): unknown =>
  internalForm({ matchExpressions: requirements.slice(0, SHOWN_REQUIREMENTS) }, SELECTOR);

function validateValues({ operator, values = [] }: ScopedResourceSelectorRequirement, errors: FieldErrors): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.at('values').required("must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.at('values').invalid(values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
  } else errors.at('operator').invalidTyped(operator, 'not a valid selector operator');
}

/** Requests that may come to more than limits may: allowed, but hardly meant. */
function unpairedLimitWarnings(hard: Record<string, string>): string[] {
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((resource) => {
    const bare = resource === 'cpu' || resource === 'memory' ? [resource] : [];
    const requestName = [`requests.${resource}`, ...bare].find((name) => hard[name] !== undefined);
    const limitName = `limits.${resource}`;
    const request = requestName === undefined ? undefined : hard[requestName];
    const limit = hard[limitName];
    if (request === undefined || limit === undefined || compareQuantities(parseQuantity(request), parseQuantity(limit)) <= 0) return [];
    return [`ResourceQuota ${requestName} (${request}) should be less than ${limitName} (${limit})`];
  });
}

function usage({ status: { hard = {}, used = {} } }: ResourceQuota, isLimit: boolean): string {
  const names = Object.keys(hard).filter((name) => name.startsWith('limits.') === isLimit);
  return names
    .toSorted()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ');
}

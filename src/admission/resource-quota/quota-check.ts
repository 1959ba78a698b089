import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../apis/facts/types/core-v1.ts';
import {
  type Amounts,
  amountsIn,
  growthOf,
  listOf,
  namesBelowZero,
  namesBeyond,
  only,
  printAmounts,
  printNames,
  sumOf,
  withoutZeros,
} from '../../apis/core/quota/amounts.ts';
import { type Evaluator, scopesOf } from '../../apis/core/quota/evaluator.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { unknownError } from '../../api/errors.ts';
import { quantitySign } from '../../api/quantity.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { refusal } from '../refusal.ts';

/** What may be used only where a quota says how much (apiserver.config.k8s.io ResourceQuotaConfiguration). */
export interface LimitedResource {
  apiGroup: string;
  resource: string;
  /** Parts of names of amounts. */
  matchContains: readonly string[];
  matchScopes: readonly ScopedResourceSelectorRequirement[];
}

interface Charge {
  quota: ResourceQuota;
  usage: Amounts;
}

/**
 * The quotas as they are once the write is charged to them: the same ones where it costs nothing. Throws where one does not allow it. `quotas` stay as
 * they are. Order and words: apiserver/pkg/admission/plugin/resourcequota CheckRequest.
 */
export function* charged(
  quotas: readonly ResourceQuota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  limited: readonly LimitedResource[],
): SlicedWork<readonly ResourceQuota[]> {
  const object = attributes.object!;
  const concerned = quotas.filter((quota) => concerns(quota, evaluator, object));
  for (const quota of concerned) {
    requireMeasurable(quota, attributes, evaluator);
    yield;
  }

  const usage = evaluator.usage(object);
  const negative = namesBelowZero(usage);
  if (negative.length > 0) throw refusal(attributes, `quota usage is negative for resource(s): ${printNames(negative)}`);
  const charges: Charge[] = [];
  for (const quota of concerned) {
    const additional = additionalUsage(quota, attributes, evaluator, usage);
    if (additional.size > 0) charges.push({ quota, usage: additional });
    yield;
  }
  const isFree = concerned.length > 0 ? charges.length === 0 : additionalUsage(undefined, attributes, evaluator, usage).size === 0;
  if (isFree) return quotas;

  requireCover(quotas, concerned, attributes, evaluator, usage, limited);
  const byName = new Map<string, ResourceQuota>();
  for (const charge of charges) {
    byName.set(charge.quota.metadata.name!, chargedQuota(charge, attributes));
    yield;
  }
  return quotas.map((quota) => byName.get(quota.metadata.name!) ?? quota);
}

const hardNames = ({ status }: ResourceQuota): string[] => Object.keys(status.hard ?? {});

function concerns(quota: ResourceQuota, evaluator: Evaluator, object: ApiObject): boolean {
  return hardNames(quota).some((name) => evaluator.counts(name)) && scopesOf(quota).every((scope) => evaluator.isInScope(scope, object));
}

function requireMeasurable(quota: ResourceQuota, attributes: AdmissionAttributes, evaluator: Evaluator): void {
  const names = hardNames(quota).filter((name) => evaluator.counts(name));
  const omission = evaluator.omission?.(names, attributes.object!);
  if (omission !== undefined) throw refusal(attributes, `failed quota: ${quota.metadata.name}: ${omission}`);
  const used = quota.status.used ?? {};
  if (names.every((name) => Object.hasOwn(used, name))) return;
  throw refusal(attributes, `status unknown for quota: ${quota.metadata.name}, resources: ${printNames(names)}`);
}

/** An update costs what it adds; to a quota that did not concern the object before, it costs all. */
function additionalUsage(quota: ResourceQuota | undefined, { operation, oldObject }: AdmissionAttributes, evaluator: Evaluator, usage: Amounts): Amounts {
  if (operation !== 'UPDATE' || !oldObject?.metadata.resourceVersion) return withoutZeros(usage);
  if (quota && !concerns(quota, evaluator, oldObject)) return withoutZeros(usage);
  return growthOf(usage, evaluator.usage(oldObject));
}

function requireCover(
  quotas: readonly ResourceQuota[],
  concerned: readonly ResourceQuota[],
  attributes: AdmissionAttributes,
  evaluator: Evaluator,
  usage: Amounts,
  limited: readonly LimitedResource[],
): void {
  if (limited.length === 0) return;
  const covered = new Set(concerned.flatMap(hardNames));
  const own = limited.filter(({ apiGroup, resource }) => apiGroup === attributes.group && resource === attributes.resource);
  const used = [...usage].filter(([, quantity]) => quantitySign(quantity) > 0).map(([name]) => name);
  const uncovered = used.filter((name) => !covered.has(name) && own.some(({ matchContains }) => matchContains.some((part) => name.includes(part))));
  if (uncovered.length > 0) throw refusal(attributes, `insufficient quota to consume: ${printNames(uncovered)}`);

  const object = attributes.object!;
  const matching = (scopes: readonly ScopedResourceSelectorRequirement[]): ScopedResourceSelectorRequirement[] =>
    scopes.filter((scope) => evaluator.isInScope(scope, object));
  const coveredScopes = new Set(matching(quotas.flatMap(scopesOf)).map(({ scopeName }) => scopeName));
  const uncoveredScopes = matching(limited.flatMap(({ matchScopes }) => matchScopes)).filter(({ scopeName }) => !coveredScopes.has(scopeName));
  if (uncoveredScopes.length > 0) throw unknownError(`insufficient quota to match these scopes: [${uncoveredScopes.map(printScope).join(' ')}]`);
}

/** As Go prints the struct. */
const printScope = ({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement): string => `{${scopeName} ${operator} [${values.join(' ')}]}`;

/** What others report of an object that is there is charged even beyond the limit. */
function chargedQuota({ quota, usage }: Charge, attributes: AdmissionAttributes): ResourceQuota {
  const hard = amountsIn(quota.status.hard);
  const used = amountsIn(quota.status.used);
  const requested = only(usage, hard.keys());
  const total = sumOf(used, requested);
  const exceeded = attributes.subresource === 'status' ? [] : namesBeyond(only(total, requested.keys()), hard);
  if (exceeded.length > 0) {
    const print = (amounts: Amounts): string => printAmounts(only(amounts, exceeded));
    throw refusal(attributes, `exceeded quota: ${quota.metadata.name}, requested: ${print(requested)}, used: ${print(used)}, limited: ${print(hard)}`);
  }
  return { ...quota, status: { ...quota.status, used: listOf(total) } };
}

import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../facts/types/core-v1.ts';
import { type ApiObject, type GroupResource, qualifiedResource } from '../../../api/api-object.ts';
import { type Amounts, wholeNumber } from './amounts.ts';

/** Of a write, what says whether it may change what is used. */
export interface MeasuredWrite {
  operation: string;
  subresource: string;
  object: ApiObject | undefined;
  oldObject: ApiObject | undefined;
}

/** What one resource's objects use up of quotas (apiserver/pkg/quota/v1 Evaluator). */
export interface Evaluator {
  /** Whether a write may change what is used. */
  handles(write: MeasuredWrite): boolean;
  /** Whether a quota's name for an amount is one that these objects use. */
  counts(name: string): boolean;
  usage(object: ApiObject): Amounts;
  isInScope(scope: ScopedResourceSelectorRequirement, object: ApiObject): boolean;
  /** Why an object cannot be measured by these names: what it must say and does not. */
  omission?(names: readonly string[], object: ApiObject): string | undefined;
  /** Whether someone else than admission is to be told that an object now uses other amounts. Absent: only a deletion changes them. */
  isReleased?(object: ApiObject, old: ApiObject): boolean;
}

export const countName = (resource: GroupResource): string => `count/${qualifiedResource(resource)}`;

export const NO_SCOPE: Evaluator['isInScope'] = () => false;

/** Counts objects, under their own name and the one that quotas had before there were counts of everything. */
export function objectCounter(resource: GroupResource, legacyName?: string): Evaluator {
  const names = legacyName === undefined ? [countName(resource)] : [countName(resource), legacyName];
  const one: Amounts = new Map(names.map((name) => [name, wholeNumber(1)]));
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => one.has(name),
    usage: () => one,
    isInScope: NO_SCOPE,
  };
}

/** All that an object must be in. A bare scope only has to exist. */
export const scopesOf = ({ spec }: ResourceQuota): ScopedResourceSelectorRequirement[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
  ...(spec.scopeSelector?.matchExpressions ?? []),
];

/** Whether a class's name is one that the scope asks for; `undefined` where there is no class. */
export function matchesClass({ operator, values = [] }: ScopedResourceSelectorRequirement, className: string | undefined): boolean {
  switch (operator) {
    case 'Exists':
      return className !== undefined;
    case 'DoesNotExist':
      return className === undefined;
    case 'In':
      return className !== undefined && values.includes(className);
    default:
      return className === undefined || !values.includes(className);
  }
}

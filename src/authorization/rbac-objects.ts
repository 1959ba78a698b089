import type { ApiObject } from '../api/api-object.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** rbac/v1 PolicyRule. Lists that are absent are empty. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface RoleRef {
  apiGroup?: string;
  kind: string;
  name: string;
}

/** A Role, or a ClusterRole. `rules` is null where an aggregated role has not been filled in. */
export interface RoleObject extends ApiObject {
  rules?: PolicyRule[] | null;
  aggregationRule?: AggregationRule;
}

export interface AggregationRule {
  clusterRoleSelectors?: object[];
}

export interface BindingObject extends ApiObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

import type { FieldSelector } from '../util/field-selector.ts';
import type { LabelSelector } from '../util/label-selector.ts';
import type { User } from '../util/user.ts';

/** What someone wants to do. For non-resource requests only user, verb and path count. */
export interface AuthorizationAttributes {
  user: User;
  verb: string;
  isResourceRequest: boolean;
  apiGroup: string;
  apiVersion: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
  fieldSelector?: FieldSelector;
  labelSelector?: LabelSelector;
}

/** `noOpinion` leaves the answer to the next authorizer; from the last one it means no. `reason` is shown to the client. */
export interface Decision {
  decision: 'allow' | 'deny' | 'noOpinion';
  reason: string;
  /** A failure that left the decision without an opinion; shown in access reviews. */
  error?: string;
}

export interface ResourceRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
}

export interface NonResourceRule {
  verbs: string[];
  nonResourceURLs: string[];
}

/** What a user may do in a namespace, for SelfSubjectRulesReview. */
export interface UserRules {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
  isIncomplete: boolean;
  evaluationError?: string;
}

/** One mechanism, or a union of them. Synchronous where it can be: this is on every request's road. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision>;
  rulesFor(user: User, namespace: string): UserRules | Promise<UserRules>;
}

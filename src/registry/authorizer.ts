import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import type { User } from '../api/user.ts';

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

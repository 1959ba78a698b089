import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { Decision } from '../api/authorization.ts';

const ALLOW: Decision = { decision: 'allow', reason: '' };
const EVERYTHING: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  isIncomplete: false,
};

/** `--authorization-mode=AlwaysAllow` */
export const alwaysAllow: Authorizer = { authorize: () => ALLOW, rulesFor: () => EVERYTHING };

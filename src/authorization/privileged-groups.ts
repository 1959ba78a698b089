import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { Decision } from '../api/authorization.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';

const ALLOW: Decision = { decision: 'allow', reason: '' };
const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };
const NO_RULES: UserRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };

/** Members of system:masters may do everything, whatever the modes say. It names no rules: upstream leaves it out of rules reviews. */
export const privilegedGroups: Authorizer = {
  authorize: ({ user }) => (user.groups.includes(SYSTEM_PRIVILEGED_GROUP) ? ALLOW : NO_OPINION),
  rulesFor: () => NO_RULES,
};

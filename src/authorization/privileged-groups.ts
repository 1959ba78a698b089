import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { Decision } from '../util/authorization.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../util/user.ts';

const ALLOW: Decision = { decision: 'allow', reason: '' };
const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };
const NO_RULES: UserRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };

/** Members of system:masters may do everything, whatever the modes say. It names no rules: upstream leaves it out of rules reviews. */
export const privilegedGroups: Authorizer = {
  authorize: ({ user }) => (user.groups.includes(SYSTEM_PRIVILEGED_GROUP) ? ALLOW : NO_OPINION),
  rulesFor: () => NO_RULES,
};

import type { AuthorizationAttributes, Decision } from '../../api/authorization.ts';
import { ALL_AUTHENTICATED, type User } from '../../api/user.ts';
import type { Authorizer, UserRules } from '../../registry/authorizer.ts';
import { HISTORY_GROUP } from './change-definition.ts';

const VERBS = ['get', 'list', 'watch'];
const ALLOWED: Decision = { decision: 'allow', reason: 'history: whoever may get an object may see its history' };

/**
 * Lets every authenticated user read history.binnacle.dev: what is shown there is decided object by object, by whether the user may get it. All else is asked
 * of the authorizer itself.
 */
export const withHistoryReaders = (authorizer: Authorizer): Authorizer => ({
  authorize: (attributes) => (isReading(attributes) ? ALLOWED : authorizer.authorize(attributes)),
  rulesFor(user, namespace) {
    const rules = authorizer.rulesFor(user, namespace);
    if (!isAuthenticated(user)) return rules;
    return rules instanceof Promise ? rules.then(withReading) : withReading(rules);
  },
});

const isReading = ({ apiGroup, isResourceRequest, verb, user }: AuthorizationAttributes): boolean =>
  apiGroup === HISTORY_GROUP && isResourceRequest && VERBS.includes(verb) && isAuthenticated(user);

const isAuthenticated = ({ groups }: User): boolean => groups.includes(ALL_AUTHENTICATED);

const withReading = (rules: UserRules): UserRules => ({
  ...rules,
  resourceRules: [...rules.resourceRules, { verbs: VERBS, apiGroups: [HISTORY_GROUP], resources: ['changes', 'objects'] }],
});

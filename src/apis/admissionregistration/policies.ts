/** Names that webhooks and policies share. Lists in the order in which upstream prints them. */
export const FAIL = 'Fail';
export const FAILURE_POLICIES = [FAIL, 'Ignore'];
export const EQUIVALENT = 'Equivalent';
export const MATCH_POLICIES = [EQUIVALENT, 'Exact'];
export const NEVER = 'Never';
export const REINVOCATION_POLICIES = ['IfNeeded', NEVER];

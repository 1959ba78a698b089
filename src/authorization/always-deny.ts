import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { Decision } from '../api/authorization.ts';

const DENY: Decision = { decision: 'noOpinion', reason: 'Everything is forbidden.' };
const NOTHING: UserRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };

/** `--authorization-mode=AlwaysDeny`: no opinion rather than a denial, as upstream, so that it can stand before other modes. */
export const alwaysDeny: Authorizer = { authorize: () => DENY, rulesFor: () => NOTHING };

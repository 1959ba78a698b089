import { AuthorizerValue, type Authorize } from '../../cel/library/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../../api/authorization.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { User } from '../../api/user.ts';
import { Pending } from '../../util/pending.ts';

/** The variable `authorizer` of one request: every question is asked once (apiserver/pkg/admission/plugin/authorizer). Throws Pending for answers to come. */
export function requestAuthorizer(authorizer: Authorizer, user: User): AuthorizerValue {
  const known = new Map<string, Decision>();
  const authorize: Authorize = (attributes) => {
    const question = questionOf(attributes);
    const answered = known.get(question);
    if (answered) return answered;
    const decision = authorizer.authorize(attributes);
    if (!(decision instanceof Promise)) {
      known.set(question, decision);
      return decision;
    }
    const failed = (error: Error): Decision => ({ decision: 'noOpinion', reason: '', error: error.message });
    throw new Pending(decision.catch(failed).then((answer) => known.set(question, answer)));
  };
  return new AuthorizerValue(user, authorize);
}

function questionOf({ fieldSelector, labelSelector, ...attributes }: AuthorizationAttributes): string {
  return JSON.stringify([attributes, fieldSelector?.toString(), labelSelector?.toString()]);
}

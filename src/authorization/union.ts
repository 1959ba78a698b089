import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import type { User } from '../api/user.ts';

const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };

/** The first authorizer with an opinion decides; where none has one, the reasons of all are given, one a line (apiserver/pkg/authorization/union). */
export function unionOfAuthorizers(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => decideFrom(authorizers, 0, attributes, undefined),
    rulesFor: (user, namespace) => collectRules(authorizers, user, namespace),
  };
}

/** Stays synchronous until an authorizer does not. `undecided` holds those no-opinions that had something to say. */
function decideFrom(
  authorizers: readonly Authorizer[],
  start: number,
  attributes: AuthorizationAttributes,
  undecided: Decision[] | undefined,
): Decision | Promise<Decision> {
  for (let i = start; i < authorizers.length; i++) {
    const decision = authorizers[i]!.authorize(attributes);
    if (decision instanceof Promise) {
      const next = i + 1;
      return decision.then((late) => (late.decision === 'noOpinion' ? decideFrom(authorizers, next, attributes, withUndecided(undecided, late)) : late));
    }
    if (decision.decision !== 'noOpinion') return decision;
    undecided = withUndecided(undecided, decision);
  }
  return undecided === undefined ? NO_OPINION : joinUndecided(undecided);
}

function withUndecided(undecided: Decision[] | undefined, decision: Decision): Decision[] | undefined {
  if (decision.reason === '' && decision.error === undefined) return undecided;
  return undecided === undefined ? [decision] : [...undecided, decision];
}

function joinUndecided(undecided: readonly Decision[]): Decision {
  if (undecided.length === 1) return undecided[0]!;
  const reasons = undecided.map((d) => d.reason).filter((reason) => reason !== '');
  const errors = undecided.map((d) => d.error).filter((error) => error !== undefined);
  return { decision: 'noOpinion', reason: reasons.join('\n'), ...(errors.length > 0 && { error: aggregateMessage(errors) }) };
}

async function collectRules(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<UserRules> {
  const all = await Promise.all(authorizers.map((authorizer) => authorizer.rulesFor(user, namespace)));
  const errors = all.map((rules) => rules.evaluationError).filter((error) => error !== undefined);
  return {
    resourceRules: all.flatMap((rules) => rules.resourceRules),
    nonResourceRules: all.flatMap((rules) => rules.nonResourceRules),
    isIncomplete: all.some((rules) => rules.isIncomplete),
    ...(errors.length > 0 && { evaluationError: aggregateMessage(errors) }),
  };
}

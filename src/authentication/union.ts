import type { AuthenticatedRequest, Authentication, Authenticator } from '../server/authenticator.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS } from '../api/user.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

type Found = Authentication | undefined;

/** The first that knows the request answers. Errors wait until all were asked; then they are thrown together. */
export const firstOf = (authenticators: readonly Authenticator[]): Authenticator => ({
  authenticate: (request) => ask(authenticators.length, (i) => authenticators[i]!.authenticate(request), 0, undefined),
});

export const firstTokenOf = (authenticators: readonly TokenAuthenticator[]): TokenAuthenticator =>
  authenticators.length === 1
    ? authenticators[0]!
    : {
        authenticateToken: (token, audiences, context) =>
          ask(authenticators.length, (i) => authenticators[i]!.authenticateToken(token, audiences, context), 0, undefined),
      };

/** `second` is asked only where `first` found nothing and nothing wrong: a bad token does not make a request anonymous. */
export const orElse = (first: Authenticator, second: Authenticator): Authenticator => ({
  authenticate(request) {
    const found = first.authenticate(request);
    return found instanceof Promise ? found.then((late) => late ?? second.authenticate(request)) : (found ?? second.authenticate(request));
  },
});

/** Adds system:authenticated to everyone that `inner` knows by name. */
export function withAuthenticatedGroup(inner: Authenticator): Authenticator {
  // Authenticators answer with one object for one credential, so that the groups are joined once, not at every request.
  const joined = new WeakMap<Authentication, Authentication>();
  const join = (found: Found): Found => {
    if (found === undefined) return undefined;
    let result = joined.get(found);
    if (result === undefined) joined.set(found, (result = inAuthenticatedGroup(found)));
    return result;
  };
  return {
    authenticate(request: AuthenticatedRequest) {
      const found = inner.authenticate(request);
      return found instanceof Promise ? found.then(join) : join(found);
    },
  };
}

/** The anonymous, and who is placed already, stay where they are. */
export function inAuthenticatedGroup(authentication: Authentication): Authentication {
  const { user } = authentication;
  const isPlaced = user.name === ANONYMOUS.name || user.groups.includes(ALL_AUTHENTICATED) || user.groups.includes(ALL_UNAUTHENTICATED);
  return isPlaced ? authentication : { ...authentication, user: { ...user, groups: [...user.groups, ALL_AUTHENTICATED] } };
}

/** Stays synchronous until one of them does not. */
function ask(count: number, call: (index: number) => Found | Promise<Found>, start: number, errors: Error[] | undefined): Found | Promise<Found> {
  for (let i = start; i < count; i++) {
    try {
      const found = call(i);
      if (found instanceof Promise) {
        const next = i + 1;
        return found.then(
          (late) => late ?? ask(count, call, next, errors),
          (error: unknown) => ask(count, call, next, withError(errors, error)),
        );
      }
      if (found !== undefined) return found;
    } catch (error) {
      errors = withError(errors, error);
    }
  }
  if (errors === undefined) return undefined;
  throw errors.length === 1 ? errors[0]! : new Error(aggregateMessage(errors.map(({ message }) => message)));
}

const withError = (errors: Error[] | undefined, error: unknown): Error[] => [...(errors ?? []), error instanceof Error ? error : new Error(String(error))];

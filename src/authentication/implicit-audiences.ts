import type { Authentication } from '../server/authenticator.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/** Tokens that say nothing of whom they are meant for are meant for this API (apiserver/pkg/authentication/authenticator/audagnostic.go). */
export function withImplicitAudiences(inner: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator {
  return {
    authenticateToken(token, audiences, context) {
      if (audiences === undefined) return inner.authenticateToken(token, undefined, context);
      const shared = audiences.filter((audience) => apiAudiences.includes(audience));
      if (shared.length === 0) return undefined;
      const withShared = (found: Authentication | undefined): Authentication | undefined => found && { ...found, audiences: shared };
      const found = inner.authenticateToken(token, undefined, context);
      return found instanceof Promise ? found.then(withShared) : withShared(found);
    },
  };
}

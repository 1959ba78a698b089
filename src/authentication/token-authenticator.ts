import type { Authentication } from '../server/authenticator.ts';

/** Says whose a bearer token is; undefined for a token it does not know; throws for one that it knows to be bad. */
export interface TokenAuthenticator {
  authenticateToken(token: string): Authentication | undefined | Promise<Authentication | undefined>;
}

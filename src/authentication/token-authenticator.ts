import type { Authentication } from '../server/authenticator.ts';

/**
 * Says whose a bearer token is; undefined for a token it does not know; throws for one that it knows to be bad. `audiences`: for whom the token must be meant;
 * absent for a request to this API. The answer names those of them that it is meant for; it may leave that out where they were absent.
 */
export interface TokenAuthenticator {
  authenticateToken(token: string, audiences?: readonly string[]): Authentication | undefined | Promise<Authentication | undefined>;
}

import type { RequestContext } from '../registry/request-context.ts';
import type { Authentication } from '../server/authenticator.ts';

/** Whom a token's authenticator tells what it noticed: the request's own warnings and audit annotations. */
export type TokenContext = Pick<RequestContext, 'warn' | 'annotateAudit'>;

/**
 * Says whose a bearer token is; undefined for a token it does not know; throws for one that it knows to be bad. `audiences`: for whom the token must be meant;
 * absent for a request to this API. The answer names those of them that it is meant for; it may leave that out where they were absent. `context` is absent
 * where no request carried the token.
 */
export interface TokenAuthenticator {
  authenticateToken(token: string, audiences?: readonly string[], context?: TokenContext): Authentication | undefined | Promise<Authentication | undefined>;
}

import type { AuthenticatedRequest, Authentication, Authenticator } from '../server/authenticator.ts';
import { authenticated } from './credentials.ts';
import { CSRF_HEADER, takeCookie } from './cookie.ts';
import { isSameSecret } from '../util/secrets.ts';
import type { Session, Sessions } from './sessions.ts';

type Found = Authentication | undefined;

/**
 * The user of a session, where a request carries its cookie and its token; all other requests are `inner`'s. Whoever shows a session is its user or nobody: that
 * the browser has a client certificate besides does not make it another's request. A cookie without the token counts for nothing.
 */
export function sessionAuthenticator(inner: Authenticator, sessions: Sessions, cookieName: () => string): Authenticator {
  return {
    authenticate(request) {
      const { headers } = request.exchange;
      if (headers.cookie === undefined && headers[CSRF_HEADER] === undefined) return inner.authenticate(request);
      const isOwnPage = isFromOwnPage(request);
      const { id, csrfToken } = takeCookie(headers, cookieName());
      if (id === undefined || csrfToken === undefined || !isOwnPage) return inner.authenticate(request);
      const session = sessions.find(id);
      if (!session || !isSameSecret(Buffer.from(session.csrfToken), csrfToken))
        throw new Error('the session of the console is unknown, or its token is not the one');
      return userOf(inner, sessions, session, request);
    },
  };
}

/** Who a session is, by now. One whose credentials are refused, or are another's, ends. */
export function userOf(inner: Authenticator, sessions: Sessions, session: Session, request: AuthenticatedRequest): Found | Promise<Found> {
  const checked = (found: Found): Found => {
    if (found?.user.name === session.userName) return found;
    sessions.end(session);
    throw new Error('the credentials of the session of the console are no longer good');
  };
  const failed = (error: unknown): never => {
    sessions.end(session);
    throw error;
  };
  try {
    const found = authenticated(inner, session.credentials, request);
    return found instanceof Promise ? found.then(checked, failed) : checked(found);
  } catch (error) {
    return failed(error);
  }
}

/** Of browsers that say so (Fetch Metadata, W3C): other ports of one's own machine count as the same site, but are not the same origin. */
export function isFromOwnPage({ exchange }: AuthenticatedRequest): boolean {
  const site = exchange.headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}

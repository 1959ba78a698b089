import type { User } from '../api/user.ts';
import { ALL_UNAUTHENTICATED, ANONYMOUS } from '../api/user.ts';
import type { AuthenticatedRequest, Authentication, Authenticator } from '../server/authenticator.ts';
import { type ConnectionInfo, withoutConnection } from '../serving/exchange.ts';

/**
 * What somebody has signed in with. It is shown to the server's authenticators again with every request of the session, which cache what they find as they
 * do for anybody: a token that is revoked, or a certificate that has run out, ends the session.
 */
export interface Credentials {
  /** As the header has it; undefined for client certificates. */
  readonly authorization: string | undefined;
  /** Stands for the connection whose client showed the certificates: authenticators keep there what they made of them. */
  readonly connection: ConnectionInfo;
}

/** No header takes more. */
const MAX_TOKEN_CHARACTERS = 64 * 1024;
const TOKEN = /^[\x21-\x7e]+$/;

/** Undefined where no header could carry it. */
export const tokenCredentials = (token: string): Credentials | undefined =>
  token.length <= MAX_TOKEN_CHARACTERS && TOKEN.test(token) ? { authorization: `Bearer ${token}`, connection: withoutConnection([]) } : undefined;

export const certificateCredentials = (peerCertificates: readonly Buffer[]): Credentials => ({
  authorization: undefined,
  connection: withoutConnection(peerCertificates),
});

/** Those of a request itself: its header, and else its connection's certificate. A front proxy's word cannot be shown again. */
export function credentialsOf({ exchange }: AuthenticatedRequest): Credentials {
  const { authorization } = exchange.headers;
  return authorization === undefined ? certificateCredentials(exchange.connection.peerCertificates) : { authorization, connection: withoutConnection([]) };
}

type Found = Authentication | undefined;

/** Who that is, by now; undefined for nobody. Rejects, or throws, for credentials that are bad. `request`: is told what authenticators notice. */
export function authenticated(authenticator: Authenticator, { authorization, connection }: Credentials, request: AuthenticatedRequest): Found | Promise<Found> {
  const headers = authorization === undefined ? {} : { authorization };
  const headerValues = (name: string): string[] => (name === 'authorization' && authorization !== undefined ? [authorization] : []);
  const found = authenticator.authenticate({
    info: request.info,
    exchange: { headers, headerValues, connection },
    warn: (text) => request.warn(text),
    annotateAudit: (key, value, level) => request.annotateAudit(key, value, level),
  });
  return found instanceof Promise ? found.then(somebody) : somebody(found);
}

const somebody = (found: Found): Found => (found === undefined || isNobody(found.user) ? undefined : found);

const isNobody = ({ name, groups }: User): boolean => name === ANONYMOUS.name || groups.includes(ALL_UNAUTHENTICATED);

import type { RequestInfo, ServerRequest } from '../endpoints/request.ts';
import type { Exchange } from '../serving/exchange.ts';
import type { User } from '../api/user.ts';

/** What authenticators look at: a request, or credentials that a request brought before. */
export interface AuthenticatedRequest extends Pick<ServerRequest, 'warn' | 'annotateAudit'> {
  readonly info: Pick<RequestInfo, 'path'>;
  readonly exchange: Pick<Exchange, 'headers' | 'headerValues' | 'connection'>;
}

/** What an authenticator makes of a request: who it is; that it carries nothing for this mechanism (undefined); or (thrown) that what it carries is bad. */
export interface Authenticator {
  authenticate(request: AuthenticatedRequest): Authentication | undefined | Promise<Authentication | undefined>;
}

export interface Authentication {
  user: User;
  audiences?: string[];
}

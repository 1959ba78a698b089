import type { ServerRequest } from '../endpoints/request.ts';
import type { User } from '../api/user.ts';

/** What an authenticator makes of a request: who it is; that it carries nothing for this mechanism (undefined); or (thrown) that what it carries is bad. */
export interface Authenticator {
  authenticate(request: ServerRequest): Authentication | undefined | Promise<Authentication | undefined>;
}

export interface Authentication {
  user: User;
  audiences?: string[];
}

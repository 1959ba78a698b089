import type { RequestContext } from '../../registry/request-context.ts';
import type { ReviewHandler } from '../../registry/review-store.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { badRequest } from '../../api/errors.ts';
import { timeOf } from '../../util/time.ts';
import type { User } from '../../api/user.ts';

interface SelfSubjectReview extends ApiObject {
  status?: { userInfo: object };
}

interface TokenReview extends ApiObject {
  spec: { token?: string; audiences?: string[] };
  status?: { authenticated?: boolean; user?: object; audiences?: string[]; error?: string };
}

/** Who a bearer token belongs to, as a request that carried it would be taken, and whom of `audiences` (none: this API) it is meant for. Throws where it is no good. */
export type TokenReader = (token: string, audiences: readonly string[]) => Promise<{ user: User; audiences?: string[] }>;

const userInfo = ({ name, uid, groups, extra }: User): object => ({ ...(name && { username: name }), ...(uid && { uid }), groups, ...(extra && { extra }) });

/** Who am I? */
export const selfSubjectReview: ReviewHandler<SelfSubjectReview> = ({ kind, apiVersion }, { user }: RequestContext, _namespace, _dryRun, now) => ({
  kind,
  apiVersion,
  metadata: { creationTimestamp: timeOf(now) },
  status: { userInfo: userInfo(user) },
});

/** Who does this token belong to? What the client sent as the status stays where nothing is answered. */
export const tokenReview =
  (readToken: TokenReader): ReviewHandler<TokenReview> =>
  async (review) => {
    const { token, audiences = [] } = review.spec;
    if (!token) throw badRequest('token is required for TokenReview in authentication');
    const status = { user: {}, ...review.status };
    delete status.authenticated;
    try {
      const found = await readToken(token, audiences);
      Object.assign(status, { authenticated: true, user: userInfo(found.user), audiences: found.audiences });
      if (!found.audiences) delete status.audiences;
    } catch (error) {
      status.error = (error as Error).message;
    }
    review.status = status;
    return review;
  };

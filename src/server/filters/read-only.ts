import { ApiError } from '../../api/errors.ts';
import type { RequestInfo } from '../../endpoints/request.ts';
import type { Filter } from './filter.ts';

const READS = new Set(['get', 'list', 'watch']);
const METHODS_THAT_READ = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Questions that are asked by creating them: nothing is kept. */
const REVIEW_GROUPS = new Set(['authorization.k8s.io', 'authentication.k8s.io']);
/** What other machines answer, and did not. */
const ELSEWHERE = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** Lets reads and reviews through; all else is refused with this text. */
export function withReadOnly(refusal: string): Filter {
  return (next) => (request) => {
    if (isRead(request.info, request.exchange.method)) return next(request);
    throw new ApiError(405, 'MethodNotAllowed', refusal, {});
  };
}

function isRead({ isResourceRequest, verb, apiGroup, subresource }: RequestInfo, method: string): boolean {
  if (!isResourceRequest) return METHODS_THAT_READ.has(method);
  if (verb === 'create' && subresource === '') return REVIEW_GROUPS.has(apiGroup);
  return READS.has(verb) && !ELSEWHERE.has(subresource);
}

import type { RequestInfo } from '../../endpoints/request.ts';
import { parseRequestInfo } from '../request-info.ts';
import type { Filter } from './filter.ts';

/** Says what the request is about. All filters behind this one may read `info` and `isLongRunning`. */
export const withRequestInfo: Filter = (next) => (request) => {
  request.info = parseRequestInfo(request.exchange.method, request.exchange.target);
  request.isLongRunning = isLongRunning(request.info);
  return next(request);
};

const LONG_RUNNING_VERBS = new Set(['watch', 'proxy']);
const LONG_RUNNING_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Whether a request may take as long as it likes. */
export function isLongRunning(info: RequestInfo): boolean {
  if (LONG_RUNNING_VERBS.has(info.verb)) return true;
  if (info.isResourceRequest) return info.subresource !== '' && LONG_RUNNING_SUBRESOURCES.has(info.subresource);
  return info.path.startsWith('/debug/pprof/') || info.path.startsWith('/debug/v8/') || info.path === '/console/requests';
}

import { parseRequestInfo } from '../request-info.ts';
import type { Filter } from './filter.ts';
import { isLongRunning } from './long-running.ts';

/** Says what the request is about. All filters behind this one may read `info` and `isLongRunning`. */
export const withRequestInfo: Filter = (next) => (request) => {
  request.info = parseRequestInfo(request.exchange.method, request.exchange.target);
  request.isLongRunning = isLongRunning(request.info);
  return next(request);
};

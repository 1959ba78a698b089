import type { Filter } from './filter.ts';

/** Everything here stands behind authentication; an answer that says otherwise for itself keeps its own word. */
export const withCacheControl: Filter = (next) => (request) => {
  request.responseHeaders['cache-control'] = 'no-cache, private';
  return next(request);
};

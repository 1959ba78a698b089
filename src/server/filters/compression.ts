import type { Filter } from './filter.ts';

/** Resources are answered as if no client took compressed answers. */
export const withoutCompression: Filter = (next) => (request) => {
  if (request.info.isResourceRequest) request.exchange.headers['accept-encoding'] = undefined;
  return next(request);
};

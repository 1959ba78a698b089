import type { Filter } from './filter.ts';

/**
 * Where other processes write to the same store: holds a request up until the caches have everything that was acknowledged before it came, so that who has lost a
 * right, a token or an object through one process has lost it through all. All requests of one turn of the event loop share one question to the store.
 */
export const withCatchUp =
  (catchUp: () => Promise<void> | undefined): Filter =>
  (next) =>
  async (request) => {
    if (request.info.isResourceRequest) await catchUp();
    return next(request);
  };

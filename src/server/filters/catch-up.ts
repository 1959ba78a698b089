import type { Filter } from './filter.ts';

/**
 * Where other processes write to the same store: holds a request up until the caches have everything that was acknowledged before it came, so that who has lost a
 * right, a token or an object through one process has lost it through all. Mostly they have, and nobody waits.
 */
export const withCatchUp =
  (catchUp: () => Promise<void> | undefined): Filter =>
  (next) => {
    const later: typeof next = async (request) => {
      await catchUp();
      return next(request);
    };
    return (request) => {
      const caughtUp = request.info.isResourceRequest ? catchUp() : undefined;
      return caughtUp === undefined ? next(request) : later(request);
    };
  };

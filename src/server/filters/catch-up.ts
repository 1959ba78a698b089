import type { Filter } from './filter.ts';

/**
 * Where other processes write to the same store: holds a request up until the caches have everything that was acknowledged before it came, so that who has lost a
 * right, a token or an object through one process has lost it through all. Where others write all the time, most requests wait a moment.
 */
export const withCatchUp =
  (catchUp: () => Promise<void> | undefined): Filter =>
  (next) => {
    const later = async (request: Parameters<typeof next>[0], caughtUp: Promise<void>): Promise<void> => {
      await caughtUp;
      return next(request);
    };
    return (request) => {
      const caughtUp = request.info.isResourceRequest ? catchUp() : undefined;
      return caughtUp === undefined ? next(request) : later(request, caughtUp);
    };
  };

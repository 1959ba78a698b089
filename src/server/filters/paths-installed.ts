import type { Filter } from './filter.ts';

/**
 * Marks requests that come before all paths are installed, so that the not-found handler answers 503 to them, not 404, on which controllers would act
 * (apiserver/pkg/endpoints/filters/mux_discovery_complete.go).
 */
export function withPathsInstalled(complete: { readonly isSignaled: boolean }): Filter {
  return (next) => (request) => {
    if (!complete.isSignaled) request.cameBeforePathsInstalled = true;
    return next(request);
  };
}

import type { RequestContext } from './request-context.ts';

/** The same promise, whose time counts as the store's among the parts of a slow request. */
export function timedStorage<Result>(context: RequestContext, pending: Promise<Result>): Promise<Result> {
  if (!context.noteLatency) return pending;
  const startMs = performance.now();
  return pending.finally(() => context.noteLatency!('etcd', performance.now() - startMs));
}

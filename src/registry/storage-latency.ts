import { CommitConflict } from '../storage/engine.ts';
import type { StorageOperation } from '../storage/storage-metrics.ts';
import type { RequestContext } from './request-context.ts';
import type { StoreParts } from './store-parts.ts';

/** As long as upstream's etcd client takes for a slow call (apiserver/pkg/storage/etcd3/store.go). */
const SLOW_MS = 500;

/** The same promise, whose time counts as the store's: in metrics, and among the parts of a slow request. */
export function timedStorage<Result>(
  { metrics }: Pick<StoreParts, 'metrics'>,
  operation: StorageOperation,
  context: RequestContext,
  pending: Promise<Result>,
): Promise<Result> {
  if (!context.noteLatency && !metrics) return pending;
  const startMs = performance.now();
  context.waitsFor = 'etcd';
  const record = (isSuccess: boolean): void => {
    const durationMs = performance.now() - startMs;
    context.waitsFor = undefined;
    metrics?.requested(operation, durationMs, isSuccess);
    context.noteLatency?.('etcd', durationMs);
    if (durationMs >= SLOW_MS) context.logWarning?.('A write to the store was slow', { durationMs: Math.round(durationMs) });
  };
  return pending.then(
    (result) => {
      record(true);
      return result;
    },
    (error: unknown) => {
      // To find another revision than was expected is an answer, not a failure.
      record(error instanceof CommitConflict);
      throw error;
    },
  );
}

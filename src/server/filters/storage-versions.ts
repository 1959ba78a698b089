import { serviceUnavailable } from '../../api/errors.ts';
import type { Filter } from './filter.ts';

const READS = new Set(['get', 'list', 'watch']);

/** What is asked before a write: why the resource may not be written yet, if it may not. */
export interface StorageVersionBarrier {
  readonly isComplete: boolean;
  refusal(group: string, resource: string): string | undefined;
}

/**
 * Writes wait until this server has said in which version it stores their resource (endpoints/filters/storageversion.go). The objects by which it says so,
 * and the Leases that they depend on, do not.
 */
export const withStorageVersionBarrier =
  (barrier: StorageVersionBarrier): Filter =>
  (next) =>
  (request) => {
    const { info } = request;
    if (barrier.isComplete || !info.isResourceRequest || READS.has(info.verb)) return next(request);
    if (info.apiGroup === 'internal.apiserver.k8s.io' && info.resource === 'storageversions') return next(request);
    if (info.apiGroup === 'coordination.k8s.io' && info.resource === 'leases' && info.namespace === 'kube-system') return next(request);
    const refusal = barrier.refusal(info.apiGroup, info.resource);
    if (refusal !== undefined) throw serviceUnavailable(refusal);
    return next(request);
  };

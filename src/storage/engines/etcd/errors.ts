import { type ApiError, unknownError } from '../../../api/errors.ts';
import { GrpcCode, GrpcError } from '../../../grpc/status.ts';

/* Words of etcd's errors (etcd api/v3rpc/rpctypes/error.go), which are part of its API: clients tell errors apart by them. */
const COMPACTED = 'etcdserver: mvcc: required revision has been compacted';
const FUTURE_REVISION = 'etcdserver: mvcc: required revision is a future revision';

export const isCompacted = (error: unknown): boolean => error instanceof GrpcError && error.details === COMPACTED;
export const isFutureRevision = (error: unknown): boolean => error instanceof GrpcError && error.details === FUTURE_REVISION;

/** Another member may do better, or the same one a moment later. */
export const isTransient = (error: unknown): boolean => error instanceof GrpcError && error.code === GrpcCode.unavailable;

/**
 * What clients are told: etcd's own words where it has spoken, else those of the connection; 500, and no reason, as upstream's apiserver
 * (apiserver/pkg/endpoints/handlers/responsewriters/status.go ErrorToAPIStatus). Whether a write that ended so was done, nobody knows.
 */
export function storageError(error: GrpcError): ApiError {
  return unknownError(error.details.startsWith('etcdserver: ') ? error.details : error.message);
}

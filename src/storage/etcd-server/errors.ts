import { GrpcCode, GrpcError } from '../../grpc/status.ts';
import { Compacted, StorageUnavailable } from '../engine.ts';

/* Errors in etcd's words, which its clients compare (etcd api/v3rpc/rpctypes/error.go). */

const NOT_FOUND = 5;

export const EMPTY_KEY = new GrpcError(GrpcCode.invalidArgument, 'etcdserver: key is not provided');
export const KEY_NOT_FOUND = new GrpcError(GrpcCode.invalidArgument, 'etcdserver: key not found');
export const VALUE_PROVIDED = new GrpcError(GrpcCode.invalidArgument, 'etcdserver: value is provided');
export const LEASE_PROVIDED = new GrpcError(GrpcCode.invalidArgument, 'etcdserver: lease is provided');
export const TOO_LARGE = new GrpcError(GrpcCode.invalidArgument, 'etcdserver: request is too large');
export const COMPACTED = new GrpcError(GrpcCode.outOfRange, 'etcdserver: mvcc: required revision has been compacted');
export const FUTURE_REVISION = new GrpcError(GrpcCode.outOfRange, 'etcdserver: mvcc: required revision is a future revision');
export const LEASE_NOT_FOUND = new GrpcError(NOT_FOUND, 'etcdserver: requested lease not found');
export const LEASE_EXISTS = new GrpcError(GrpcCode.failedPrecondition, 'etcdserver: lease already exists');
export const LEASE_TTL_TOO_LARGE = new GrpcError(GrpcCode.outOfRange, 'etcdserver: too large lease TTL');

/** For what Kubernetes does not do, and this store therefore does not. */
export const unsupported = (what: string): GrpcError => new GrpcError(GrpcCode.unimplemented, `binnacle store does not support ${what}`);

/** What the engine throws, as etcd's clients know it. */
export function asEtcdError(error: unknown): unknown {
  if (error instanceof Compacted) return COMPACTED;
  if (error instanceof RangeError) return FUTURE_REVISION;
  if (error instanceof StorageUnavailable) return new GrpcError(GrpcCode.unavailable, `etcdserver: ${error.message}`);
  return error;
}

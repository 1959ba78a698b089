import { isUtf8 } from 'node:buffer';
import { forEachField, trustedReader } from '../../encoding/protobuf-fields.ts';
import { type ProtobufReader, WIRE_BYTES, WIRE_VARINT, tagOf } from '../../encoding/protobuf-wire.ts';
import { GrpcCode, GrpcError } from '../../grpc/status.ts';
import { EMPTY_KEY, LEASE_PROVIDED, VALUE_PROVIDED } from './errors.ts';

/* Requests of etcd's API as they are read from the wire (etcd api/etcdserverpb/rpc.proto), field numbers as there. */

export interface RangeRequest {
  key: string;
  /** Beyond the last key, KEYSPACE_START for none; empty: the key alone. */
  end: string;
  /** 0: no limit. */
  limit: number;
  /** 0: the newest state. */
  revision: number;
  isDescending: boolean;
  sortTarget: number;
  keysOnly: boolean;
  countOnly: boolean;
  minModRevision: number;
  maxModRevision: number;
  minCreateRevision: number;
  maxCreateRevision: number;
}

export interface PutRequest {
  key: string;
  /** Shares the memory of the message. */
  value: Buffer;
  leaseId: bigint;
  prevKv: boolean;
  ignoreValue: boolean;
  ignoreLease: boolean;
}

export interface DeleteRequest {
  key: string;
  end: string;
  prevKv: boolean;
}

export type RequestOperation =
  | { type: 'range'; request: RangeRequest }
  | { type: 'put'; request: PutRequest }
  | { type: 'delete'; request: DeleteRequest }
  | { type: 'txn' };

export const CompareResult = { equal: 0, greater: 1, less: 2, notEqual: 3 } as const;
export const CompareTarget = { version: 0, createRevision: 1, modRevision: 2, value: 3, lease: 4 } as const;

export interface Comparison {
  key: string;
  end: string;
  result: number;
  target: number;
  /** Of a version or a revision. */
  operand: number;
}

export interface TxnRequest {
  comparisons: Comparison[];
  success: RequestOperation[];
  failure: RequestOperation[];
}

export interface WatchCreateRequest {
  key: string;
  end: string;
  /** 0: from now on. */
  startRevision: number;
  /** 0: the server chooses. */
  watchId: number;
  notifiesProgress: boolean;
  leavesOutPuts: boolean;
  leavesOutDeletes: boolean;
  prevKv: boolean;
}

export type WatchRequest = { type: 'create'; request: WatchCreateRequest } | { type: 'cancel'; watchId: number } | { type: 'progress' } | undefined;

export interface LeaseRequest {
  id: bigint;
  ttlSeconds: number;
  /** Of TimeToLive. */
  wantsKeys: boolean;
}

/** Keys of the engines are text. */
function readKey(reader: ProtobufReader): string {
  const bytes = reader.bytes();
  if (!isUtf8(bytes)) throw new GrpcError(GrpcCode.invalidArgument, 'binnacle: keys that are not UTF-8 are not supported');
  return bytes.toString();
}

function readId(reader: ProtobufReader): bigint {
  return BigInt(reader.int64());
}

/** Negative numbers have no meaning in any of the fields that are read so. */
function readNumber(reader: ProtobufReader): number {
  const value = Number(reader.int64());
  if (!Number.isSafeInteger(value)) throw new GrpcError(GrpcCode.invalidArgument, `etcdserver: ${value} is out of range`);
  return value;
}

const readFlag = (reader: ProtobufReader): boolean => reader.varint() !== 0;

const bytesTag = (field: number): number => tagOf(field, WIRE_BYTES);
const varintTag = (field: number): number => tagOf(field, WIRE_VARINT);

const EMPTY = Buffer.alloc(0);
const KEY = bytesTag(1);
const END = bytesTag(2);
const SORT_DESCENDING = 2;

function readRange(message: ProtobufReader): RangeRequest {
  const request: RangeRequest = {
    key: '',
    end: '',
    limit: 0,
    revision: 0,
    isDescending: false,
    sortTarget: 0,
    keysOnly: false,
    countOnly: false,
    minModRevision: 0,
    maxModRevision: 0,
    minCreateRevision: 0,
    maxCreateRevision: 0,
  };
  forEachField(message, (tag, reader) => {
    if (tag === KEY) request.key = readKey(reader);
    else if (tag === END) request.end = readKey(reader);
    else if (tag === varintTag(3)) request.limit = readNumber(reader);
    else if (tag === varintTag(4)) request.revision = readNumber(reader);
    else if (tag === varintTag(5)) request.isDescending = reader.varint() === SORT_DESCENDING;
    else if (tag === varintTag(6)) request.sortTarget = reader.varint();
    else if (tag === varintTag(8)) request.keysOnly = readFlag(reader);
    else if (tag === varintTag(9)) request.countOnly = readFlag(reader);
    else if (tag === varintTag(10)) request.minModRevision = readNumber(reader);
    else if (tag === varintTag(11)) request.maxModRevision = readNumber(reader);
    else if (tag === varintTag(12)) request.minCreateRevision = readNumber(reader);
    else if (tag === varintTag(13)) request.maxCreateRevision = readNumber(reader);
    // 7: whether an older state will do. There is only one.
    else reader.skip(tag);
  });
  if (request.key === '') throw EMPTY_KEY;
  return request;
}

function readPut(message: ProtobufReader): PutRequest {
  const request: PutRequest = { key: '', value: EMPTY, leaseId: 0n, prevKv: false, ignoreValue: false, ignoreLease: false };
  forEachField(message, (tag, reader) => {
    if (tag === KEY) request.key = readKey(reader);
    else if (tag === bytesTag(2)) request.value = reader.bytes();
    else if (tag === varintTag(3)) request.leaseId = readId(reader);
    else if (tag === varintTag(4)) request.prevKv = readFlag(reader);
    else if (tag === varintTag(5)) request.ignoreValue = readFlag(reader);
    else if (tag === varintTag(6)) request.ignoreLease = readFlag(reader);
    else reader.skip(tag);
  });
  if (request.key === '') throw EMPTY_KEY;
  if (request.ignoreValue && request.value.length > 0) throw VALUE_PROVIDED;
  if (request.ignoreLease && request.leaseId !== 0n) throw LEASE_PROVIDED;
  return request;
}

function readDelete(message: ProtobufReader): DeleteRequest {
  const request: DeleteRequest = { key: '', end: '', prevKv: false };
  forEachField(message, (tag, reader) => {
    if (tag === KEY) request.key = readKey(reader);
    else if (tag === END) request.end = readKey(reader);
    else if (tag === varintTag(3)) request.prevKv = readFlag(reader);
    else reader.skip(tag);
  });
  if (request.key === '') throw EMPTY_KEY;
  return request;
}

function readOperation(message: ProtobufReader): RequestOperation {
  let operation: RequestOperation | undefined;
  forEachField(message, (tag, reader) => {
    if (tag === bytesTag(1)) operation = { type: 'range', request: readRange(reader.message()) };
    else if (tag === bytesTag(2)) operation = { type: 'put', request: readPut(reader.message()) };
    else if (tag === bytesTag(3)) operation = { type: 'delete', request: readDelete(reader.message()) };
    else {
      if (tag === bytesTag(4)) operation = { type: 'txn' };
      reader.skip(tag);
    }
  });
  if (!operation) throw new GrpcError(GrpcCode.invalidArgument, 'etcdserver: key not found');
  return operation;
}

function readComparison(message: ProtobufReader): Comparison {
  const comparison: Comparison = { key: '', end: '', result: 0, target: 0, operand: 0 };
  forEachField(message, (tag, reader) => {
    if (tag === varintTag(1)) comparison.result = reader.varint();
    else if (tag === varintTag(2)) comparison.target = reader.varint();
    else if (tag === bytesTag(3)) comparison.key = readKey(reader);
    else if (tag === varintTag(4) || tag === varintTag(5) || tag === varintTag(6)) comparison.operand = readNumber(reader);
    else if (tag === bytesTag(64)) comparison.end = readKey(reader);
    else reader.skip(tag);
  });
  if (comparison.key === '') throw EMPTY_KEY;
  return comparison;
}

function readTxn(message: ProtobufReader): TxnRequest {
  const request: TxnRequest = { comparisons: [], success: [], failure: [] };
  forEachField(message, (tag, reader) => {
    if (tag === bytesTag(1)) request.comparisons.push(readComparison(reader.message()));
    else if (tag === bytesTag(2)) request.success.push(readOperation(reader.message()));
    else if (tag === bytesTag(3)) request.failure.push(readOperation(reader.message()));
    else reader.skip(tag);
  });
  return request;
}

const FILTER_NO_PUT = 0;
const FILTER_NO_DELETE = 1;

function readWatchCreation(message: ProtobufReader): WatchCreateRequest {
  const request: WatchCreateRequest = {
    key: '',
    end: '',
    startRevision: 0,
    watchId: 0,
    notifiesProgress: false,
    leavesOutPuts: false,
    leavesOutDeletes: false,
    prevKv: false,
  };
  const addFilter = (filter: number): void => {
    if (filter === FILTER_NO_PUT) request.leavesOutPuts = true;
    if (filter === FILTER_NO_DELETE) request.leavesOutDeletes = true;
  };
  forEachField(message, (tag, reader) => {
    if (tag === KEY) request.key = readKey(reader);
    else if (tag === END) request.end = readKey(reader);
    else if (tag === varintTag(3)) request.startRevision = readNumber(reader);
    else if (tag === varintTag(4)) request.notifiesProgress = readFlag(reader);
    else if (tag === varintTag(5)) addFilter(reader.varint());
    else if (tag === bytesTag(5)) for (const filter of reader.bytes()) addFilter(filter);
    else if (tag === varintTag(6)) request.prevKv = readFlag(reader);
    else if (tag === varintTag(7)) request.watchId = readNumber(reader);
    // 8: whether messages may be split. None is so large.
    else reader.skip(tag);
  });
  // As etcd: no key at all means all keys (etcdserver/api/v3rpc/watch.go).
  if (request.key === '') request.key = '\0';
  return request;
}

function readWatch(message: ProtobufReader): WatchRequest {
  let request: WatchRequest;
  forEachField(message, (tag, reader) => {
    if (tag === bytesTag(1)) request = { type: 'create', request: readWatchCreation(reader.message()) };
    else if (tag === bytesTag(2)) request = { type: 'cancel', watchId: readWatchId(reader.message()) };
    else {
      if (tag === bytesTag(3)) request = { type: 'progress' };
      reader.skip(tag);
    }
  });
  return request;
}

function readWatchId(message: ProtobufReader): number {
  let id = 0;
  forEachField(message, (tag, reader) => {
    if (tag === varintTag(1)) id = readNumber(reader);
    else reader.skip(tag);
  });
  return id;
}

function readCompaction(message: ProtobufReader): number {
  return readWatchId(message);
}

/** LeaseGrant has its seconds in the first field and the number in the second; all others begin with the number. */
function readGrant(message: ProtobufReader): LeaseRequest {
  const request: LeaseRequest = { id: 0n, ttlSeconds: 0, wantsKeys: false };
  forEachField(message, (tag, reader) => {
    if (tag === varintTag(1)) request.ttlSeconds = readNumber(reader);
    else if (tag === varintTag(2)) request.id = readId(reader);
    else reader.skip(tag);
  });
  return request;
}

function readLease(message: ProtobufReader): LeaseRequest {
  const request: LeaseRequest = { id: 0n, ttlSeconds: 0, wantsKeys: false };
  forEachField(message, (tag, reader) => {
    if (tag === varintTag(1)) request.id = readId(reader);
    else if (tag === varintTag(2)) request.wantsKeys = readFlag(reader);
    else reader.skip(tag);
  });
  return request;
}

/** What cannot be read is the client's mistake. */
function decoder<T>(read: (message: ProtobufReader) => T): (bytes: Buffer) => T {
  return (bytes) => {
    try {
      return read(trustedReader(bytes));
    } catch (error) {
      throw error instanceof GrpcError
        ? error
        : new GrpcError(GrpcCode.internal, `grpc: failed to unmarshal the received message: ${(error as Error).message}`);
    }
  };
}

export const decodeRangeRequest = decoder(readRange);
export const decodePutRequest = decoder(readPut);
export const decodeDeleteRequest = decoder(readDelete);
export const decodeTxnRequest = decoder(readTxn);
export const decodeCompactionRequest = decoder(readCompaction);
export const decodeWatchRequest = decoder(readWatch);
export const decodeLeaseGrantRequest = decoder(readGrant);
export const decodeLeaseRequest = decoder(readLease);

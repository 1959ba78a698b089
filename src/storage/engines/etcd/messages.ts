import { forEachField, trustedReader, writeBoolField, writeInt64Field, writeMessageField, writeStringField } from '../../../encoding/protobuf-fields.ts';
import { type ProtobufReader, ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from '../../../encoding/protobuf-wire.ts';
import { GrpcCode, GrpcError } from '../../../grpc/status.ts';
import type { Stored, StoredEvent } from '../../engine.ts';

/* The few messages of etcd's API that are spoken here (etcd api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto), field numbers as there. */

export const RANGE = '/etcdserverpb.KV/Range';
export const TXN = '/etcdserverpb.KV/Txn';
export const COMPACT = '/etcdserverpb.KV/Compact';
export const WATCH = '/etcdserverpb.Watch/Watch';
export const LEASE_GRANT = '/etcdserverpb.Lease/LeaseGrant';
export const STATUS = '/etcdserverpb.Maintenance/Status';

/** As a key and as the end of a range: all keys from here on. */
export const KEYSPACE_START = '\0';

/** A lease's number is any of 64 bits. */
export type LeaseId = number | bigint;

export interface RangeRequest {
  key: string;
  /** Beyond the last key; one key alone when it is left out. */
  end?: string;
  /** 0: no limit. */
  limit?: number;
  revision?: number;
  keysOnly?: boolean;
  countOnly?: boolean;
}

export interface RangeResponse {
  revision: number;
  items: Stored[];
  /** Keys in the range, however many of them were asked for. */
  count: number;
}

/** The condition of a transaction: a key's version counts its writes since it was created, its revision names the last of them. */
export interface Compare {
  key: string;
  target: 'version' | 'revision';
  equals: number;
}

export type TransactionOperation =
  | { type: 'put'; key: string; value: Buffer; lease?: LeaseId | undefined }
  | { type: 'delete'; key: string }
  | { type: 'get'; key: string };

export interface TxnResponse {
  revision: number;
  succeeded: boolean;
  /** What the `get` of the branch that was taken found. */
  found: VersionedItem | undefined;
}

export interface VersionedItem extends Stored {
  version: number;
}

export interface WatchCreation {
  key: string;
  end: string;
  fromRevision: number;
}

export interface WatchResponse {
  revision: number;
  isCreated: boolean;
  isCanceled: boolean;
  compactRevision: number;
  cancelReason: string;
  /** More events of the same response follow in the next message. */
  isFragment: boolean;
  events: StoredEvent[];
}

export interface StatusResponse {
  version: string;
  sizeBytes: number;
}

const MOD_TARGET = 2;
const VERSION_TARGET = 0;

function writeRange(writer: ProtobufWriter, { key, end, limit, revision, keysOnly, countOnly }: RangeRequest): void {
  writeBoolField(writer, 9, countOnly);
  writeBoolField(writer, 8, keysOnly);
  writeInt64Field(writer, 4, revision);
  writeInt64Field(writer, 3, limit);
  writeStringField(writer, 2, end);
  writeStringField(writer, 1, key);
}

export function encodeRange(request: RangeRequest): Buffer {
  const writer = new ProtobufWriter();
  writeRange(writer, request);
  return writer.finish();
}

function writeOperation(writer: ProtobufWriter, operation: TransactionOperation): void {
  if (operation.type === 'get') return writeMessageField(writer, 1, () => writeStringField(writer, 1, operation.key));
  if (operation.type === 'delete') return writeMessageField(writer, 3, () => writeStringField(writer, 1, operation.key));
  writeMessageField(writer, 2, () => {
    writeInt64Field(writer, 3, operation.lease);
    writer.bytes(operation.value);
    writer.varint(tagOf(2, WIRE_BYTES));
    writeStringField(writer, 1, operation.key);
  });
}

/** If the condition holds, the one operation, else the other. */
export function encodeTxn(condition: Compare, then: TransactionOperation, otherwise: TransactionOperation): Buffer {
  const writer = new ProtobufWriter();
  writeMessageField(writer, 3, () => writeOperation(writer, otherwise));
  writeMessageField(writer, 2, () => writeOperation(writer, then));
  writeMessageField(writer, 1, () => {
    // Written even when it is 0: a oneof that is left out compares with nothing.
    writer.int64(condition.equals);
    writer.varint(tagOf(condition.target === 'revision' ? 6 : 4, WIRE_VARINT));
    writeStringField(writer, 3, condition.key);
    writeInt64Field(writer, 2, condition.target === 'revision' ? MOD_TARGET : VERSION_TARGET);
  });
  return writer.finish();
}

export function encodeCompaction(revision: number): Buffer {
  const writer = new ProtobufWriter();
  writeInt64Field(writer, 1, revision);
  return writer.finish();
}

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  const writer = new ProtobufWriter();
  writeInt64Field(writer, 1, ttlSeconds);
  return writer.finish();
}

/** Asks for the values before, for signs of progress, and for large answers in fragments. */
export function encodeWatchCreation({ key, end, fromRevision }: WatchCreation): Buffer {
  const writer = new ProtobufWriter();
  writeMessageField(writer, 1, () => {
    writeBoolField(writer, 8, true);
    writeBoolField(writer, 6, true);
    writeBoolField(writer, 4, true);
    writeInt64Field(writer, 3, fromRevision);
    writeStringField(writer, 2, end);
    writeStringField(writer, 1, key);
  });
  return writer.finish();
}

export function encodeWatchProgress(): Buffer {
  const writer = new ProtobufWriter();
  writeMessageField(writer, 3, () => undefined);
  return writer.finish();
}

/**
 * What is no such message is the member's fault: without this, clients would be told that their own request was bad. Revisions begin with 1, and nothing was
 * written after the one that the header names.
 */
function guarded<T>(read: (bytes: Buffer) => T): (bytes: Buffer) => T {
  return (bytes) => {
    try {
      return read(bytes);
    } catch (error) {
      throw new GrpcError(GrpcCode.internal, `etcd answered with a malformed message: ${(error as Error).message}`);
    }
  };
}

function checkRevisions(revision: number, items: readonly { readonly revision: number }[]): void {
  if (!isRevision(revision)) throw new Error(`revision ${revision}`);
  for (const item of items) if (!isRevision(item.revision) || item.revision > revision) throw new Error(`a key of revision ${item.revision} at ${revision}`);
}

const isRevision = (revision: number): boolean => Number.isSafeInteger(revision) && revision > 0;

function readRevision(header: ProtobufReader): number {
  let revision = 0;
  forEachField(header, (tag, reader) => {
    if (tag === tagOf(3, WIRE_VARINT)) revision = reader.varint();
    else reader.skip(tag);
  });
  return revision;
}

const HEADER = tagOf(1, WIRE_BYTES);

function readItem(reader: ProtobufReader): VersionedItem {
  const item: VersionedItem = { key: '', value: EMPTY, revision: 0, version: 0 };
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === KEY) item.key = reader.string();
    else if (tag === MOD_REVISION) item.revision = reader.varint();
    else if (tag === VERSION) item.version = reader.varint();
    else if (tag === VALUE) item.value = reader.bytes();
    else reader.skip(tag);
  }
  return item;
}

const EMPTY = Buffer.alloc(0);
const KEY = tagOf(1, WIRE_BYTES);
const MOD_REVISION = tagOf(3, WIRE_VARINT);
const VERSION = tagOf(4, WIRE_VARINT);
const VALUE = tagOf(5, WIRE_BYTES);

/** The value apart from the message it came in, of which it would keep all alive. */
const ownItem = ({ key, value, revision }: VersionedItem): Stored => ({ key, value: Buffer.from(value), revision });

function readRangeAnswer(bytes: Buffer): RangeResponse {
  const response: RangeResponse = { revision: 0, items: [], count: 0 };
  forEachField(trustedReader(bytes), (tag, reader) => {
    if (tag === HEADER) response.revision = readRevision(reader.message());
    else if (tag === tagOf(2, WIRE_BYTES)) response.items.push(ownItem(readItem(reader.message())));
    else if (tag === tagOf(4, WIRE_VARINT)) response.count = reader.varint();
    else reader.skip(tag);
  });
  checkRevisions(response.revision, response.items);
  if (!Number.isSafeInteger(response.count)) throw new Error(`a count of ${response.count}`);
  return response;
}

function readFound(operation: ProtobufReader): VersionedItem | undefined {
  let found: VersionedItem | undefined;
  forEachField(operation, (tag, reader) => {
    if (tag !== tagOf(1, WIRE_BYTES)) return reader.skip(tag);
    forEachField(reader.message(), (rangeTag, range) => {
      if (rangeTag === tagOf(2, WIRE_BYTES)) found = readItem(range.message());
      else range.skip(rangeTag);
    });
  });
  return found && { ...found, value: Buffer.from(found.value) };
}

function readTxnAnswer(bytes: Buffer): TxnResponse {
  const response: TxnResponse = { revision: 0, succeeded: false, found: undefined };
  forEachField(trustedReader(bytes), (tag, reader) => {
    if (tag === HEADER) response.revision = readRevision(reader.message());
    else if (tag === tagOf(2, WIRE_VARINT)) response.succeeded = reader.varint() !== 0;
    else if (tag === tagOf(3, WIRE_BYTES)) response.found = readFound(reader.message());
    else reader.skip(tag);
  });
  checkRevisions(response.revision, response.found ? [response.found] : []);
  return response;
}

function readLeaseAnswer(bytes: Buffer): LeaseId {
  let id: LeaseId = 0;
  forEachField(trustedReader(bytes), (tag, reader) => {
    if (tag === tagOf(2, WIRE_VARINT)) id = reader.int64();
    else reader.skip(tag);
  });
  // To put a key with lease 0 is to put it without one: it would stay for ever.
  if (!id) throw new Error('a lease without a number');
  return id;
}

function readStatusAnswer(bytes: Buffer): StatusResponse {
  const response: StatusResponse = { version: '', sizeBytes: 0 };
  forEachField(trustedReader(bytes), (tag, reader) => {
    if (tag === tagOf(2, WIRE_BYTES)) response.version = reader.string();
    else if (tag === tagOf(3, WIRE_VARINT)) response.sizeBytes = reader.varint();
    else reader.skip(tag);
  });
  return response;
}

const DELETE_EVENT = 1;

function readEvent(message: ProtobufReader): StoredEvent {
  let isDeletion = false;
  let item: VersionedItem | undefined;
  let previous: VersionedItem | undefined;
  forEachField(message, (tag, reader) => {
    if (tag === tagOf(1, WIRE_VARINT)) isDeletion = reader.varint() === DELETE_EVENT;
    else if (tag === tagOf(2, WIRE_BYTES)) item = readItem(reader.message());
    else if (tag === tagOf(3, WIRE_BYTES)) previous = readItem(reader.message());
    else reader.skip(tag);
  });
  if (!item) throw new Error('an event without a key');
  return {
    type: isDeletion ? 'delete' : 'put',
    key: item.key,
    revision: item.revision,
    value: isDeletion ? undefined : Buffer.from(item.value),
    previous: previous && { key: previous.key, value: previous.value, revision: previous.revision },
  };
}

function readWatchAnswer(bytes: Buffer): WatchResponse {
  const response: WatchResponse = { revision: 0, isCreated: false, isCanceled: false, compactRevision: 0, cancelReason: '', isFragment: false, events: [] };
  forEachField(trustedReader(bytes), (tag, reader) => {
    if (tag === HEADER) response.revision = readRevision(reader.message());
    else if (tag === tagOf(3, WIRE_VARINT)) response.isCreated = reader.varint() !== 0;
    else if (tag === tagOf(4, WIRE_VARINT)) response.isCanceled = reader.varint() !== 0;
    else if (tag === tagOf(5, WIRE_VARINT)) response.compactRevision = reader.varint();
    else if (tag === tagOf(6, WIRE_BYTES)) response.cancelReason = reader.string();
    else if (tag === tagOf(7, WIRE_VARINT)) response.isFragment = reader.varint() !== 0;
    else if (tag === tagOf(11, WIRE_BYTES)) response.events.push(readEvent(reader.message()));
    else reader.skip(tag);
  });
  if (!response.isCreated && !response.isCanceled) checkRevisions(response.revision, response.events);
  return response;
}

export const decodeRange = guarded(readRangeAnswer);
export const decodeTxn = guarded(readTxnAnswer);
export const decodeLease = guarded(readLeaseAnswer);
export const decodeStatus = guarded(readStatusAnswer);
export const decodeWatch = guarded(readWatchAnswer);

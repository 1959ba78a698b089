import { writeBoolField, writeBytesField, writeInt64Field, writeMessageField, writeStringField } from '../../encoding/protobuf-fields.ts';
import { ProtobufWriter } from '../../encoding/protobuf-wire.ts';
import type { Stored, StoredEvent } from '../engine.ts';

/* Answers of etcd's API (etcd api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto), field numbers as there. Fields are written last first. */

/** There is one member, and it is always the same. */
export const CLUSTER_ID = 0xb1_44ac_1e00;
export const MEMBER_ID = 0xb1_44ac_1e01;
/** There are no elections. */
export const RAFT_TERM = 1;

/** Of the lease that a key is attached to; 0n for none. */
export type LeaseOf = (item: Stored) => bigint;

/** With its lease where that may have changed since it was read; undefined where it can still be asked for. */
export interface LeasedItem extends Stored {
  leaseId?: bigint;
}

const NO_LEASE: LeaseOf = () => 0n;

export interface RangeAnswer {
  items: readonly Stored[];
  count: number;
  hasMore: boolean;
  keysOnly: boolean;
}

export type OperationAnswer =
  | { type: 'range'; answer: RangeAnswer }
  | { type: 'put'; previous: LeasedItem | undefined }
  | { type: 'delete'; count: number; previous: readonly LeasedItem[] };

export interface StatusAnswer {
  version: string;
  sizeBytes: number;
  usedBytes: number;
  revision: number;
}

/** The fields of every header that never change, encoded once: numbers of more than 32 bits take some time, and a transaction's answer has two headers. */
const HEADER_IDS = ((): Buffer => {
  const writer = new ProtobufWriter();
  writeInt64Field(writer, 2, MEMBER_ID);
  writeInt64Field(writer, 1, CLUSTER_ID);
  return writer.finish();
})();

function writeHeader(writer: ProtobufWriter, revision: number): void {
  writeMessageField(writer, 1, () => {
    writeInt64Field(writer, 4, RAFT_TERM);
    writeInt64Field(writer, 3, revision);
    writer.raw(HEADER_IDS);
  });
}

function encoded(revision: number, write: (writer: ProtobufWriter) => void, capacityBytes?: number): Buffer {
  const writer = new ProtobufWriter(capacityBytes);
  write(writer);
  writeHeader(writer, revision);
  return writer.finish();
}

function writeItem(writer: ProtobufWriter, field: number, item: LeasedItem, leaseOf: LeaseOf, keysOnly = false): void {
  writeMessageField(writer, field, () => writeItemFields(writer, item, item.leaseId ?? leaseOf(item), keysOnly));
}

function writeItemFields(writer: ProtobufWriter, item: Stored, leaseId: bigint, keysOnly = false): void {
  writeInt64Field(writer, 6, leaseId);
  if (!keysOnly) writeBytesField(writer, 5, item.value);
  writeInt64Field(writer, 4, item.version);
  writeInt64Field(writer, 3, item.revision);
  writeInt64Field(writer, 2, item.createdRevision);
  writeStringField(writer, 1, item.key);
}

/** A KeyValue of its own, as etcd's file has them. */
export function encodeItem(item: Stored, leaseId: bigint): Buffer {
  const writer = new ProtobufWriter();
  writeItemFields(writer, item, leaseId);
  return writer.finish();
}

function writeItems(writer: ProtobufWriter, field: number, items: readonly LeasedItem[], leaseOf: LeaseOf, keysOnly = false): void {
  for (let index = items.length - 1; index >= 0; index--) writeItem(writer, field, items[index]!, leaseOf, keysOnly);
}

function writeRange(writer: ProtobufWriter, { items, count, hasMore, keysOnly }: RangeAnswer, leaseOf: LeaseOf): void {
  writeInt64Field(writer, 4, count);
  writeBoolField(writer, 3, hasMore);
  writeItems(writer, 2, items, leaseOf, keysOnly);
}

export const encodeRangeAnswer = (revision: number, answer: RangeAnswer, leaseOf: LeaseOf): Buffer =>
  encoded(revision, (writer) => writeRange(writer, answer, leaseOf));

function writeOperation(writer: ProtobufWriter, answer: OperationAnswer, leaseOf: LeaseOf): void {
  if (answer.type === 'range') writeRange(writer, answer.answer, leaseOf);
  else if (answer.type === 'put') writeItems(writer, 2, answer.previous ? [answer.previous] : [], leaseOf);
  else {
    writeItems(writer, 3, answer.previous, leaseOf);
    writeInt64Field(writer, 2, answer.count);
  }
}

export const encodeOperationAnswer = (revision: number, answer: OperationAnswer, leaseOf: LeaseOf): Buffer =>
  encoded(revision, (writer) => writeOperation(writer, answer, leaseOf));

const OPERATION_FIELD = { range: 1, put: 2, delete: 3 };

export function encodeTxnAnswer(revision: number, succeeded: boolean, answers: readonly OperationAnswer[], leaseOf: LeaseOf): Buffer {
  return encoded(revision, (writer) => {
    for (const answer of answers.toReversed()) {
      writeMessageField(writer, 3, () =>
        writeMessageField(writer, OPERATION_FIELD[answer.type], () => {
          writeOperation(writer, answer, leaseOf);
          writeHeader(writer, revision);
        }),
      );
    }
    writeBoolField(writer, 2, succeeded);
  });
}

/** Compaction, revocation and defragmentation say nothing more. */
export const encodeHeader = (revision: number): Buffer => encoded(revision, () => undefined);

export interface WatchAnswer {
  watchId: number;
  isCreated?: boolean;
  isCanceled?: boolean;
  compactRevision?: number;
  cancelReason?: string;
  /** Encoded by `encodeEvent`. */
  events?: readonly Buffer[];
}

export function encodeWatchAnswer(revision: number, answer: WatchAnswer): Buffer {
  const { events = [] } = answer;
  const write = (writer: ProtobufWriter): void => {
    for (let index = events.length - 1; index >= 0; index--) writeBytesField(writer, 11, events[index]);
    writeStringField(writer, 6, answer.cancelReason);
    writeInt64Field(writer, 5, answer.compactRevision);
    writeBoolField(writer, 4, answer.isCanceled);
    writeBoolField(writer, 3, answer.isCreated);
    writeInt64Field(writer, 2, answer.watchId);
  };
  return encoded(
    revision,
    write,
    events.reduce((sum, { length }) => sum + length + FIELD_HEAD_BYTES, FIELDS_BYTES),
  );
}

/** The most that a field's tag and length take, and fields that are numbers. */
const FIELD_HEAD_BYTES = 6;
const FIELDS_BYTES = 128;

const DELETE_EVENT = 1;

/** What a change that puts a key has made of it. */
export const itemOf = ({ key, revision, value, previous }: StoredEvent): Stored => ({
  key,
  revision,
  value: value!,
  createdRevision: previous?.createdRevision ?? revision,
  version: (previous?.version ?? 0) + 1,
});

export function encodeEvent(event: StoredEvent, withPrevious: boolean): Buffer {
  const { type, key, revision, value, previous, leaseId = 0n } = event;
  const before = withPrevious ? previous : undefined;
  const writer = new ProtobufWriter(FIELDS_BYTES + 2 * key.length + (value?.length ?? 0) + (before?.value.length ?? 0));
  if (before) writeItem(writer, 3, before, NO_LEASE);
  if (type === 'delete') {
    writeItem(writer, 2, { key, revision, value: Buffer.alloc(0) }, NO_LEASE);
    writeInt64Field(writer, 1, DELETE_EVENT);
  } else {
    writeItem(writer, 2, itemOf(event), () => leaseId);
  }
  return writer.finish();
}

export function encodeLeaseAnswer(revision: number, id: bigint, ttlSeconds: number, grantedSeconds = 0, keys: readonly string[] = []): Buffer {
  return encoded(revision, (writer) => {
    for (const key of keys.toReversed()) writeStringField(writer, 5, key);
    writeInt64Field(writer, 4, grantedSeconds);
    writeInt64Field(writer, 3, ttlSeconds);
    writeInt64Field(writer, 2, id);
  });
}

export const encodeLeaseList = (revision: number, ids: readonly bigint[]): Buffer =>
  encoded(revision, (writer) => {
    for (const id of ids.toReversed()) writeMessageField(writer, 2, () => writeInt64Field(writer, 1, id));
  });

export const encodeStatus = ({ version, sizeBytes, usedBytes, revision }: StatusAnswer): Buffer =>
  encoded(revision, (writer) => {
    writeStringField(writer, 11, version.split('.', 2).join('.') + '.0');
    writeInt64Field(writer, 9, usedBytes);
    writeInt64Field(writer, 7, revision);
    writeInt64Field(writer, 6, RAFT_TERM);
    writeInt64Field(writer, 5, revision);
    writeInt64Field(writer, 4, MEMBER_ID);
    writeInt64Field(writer, 3, sizeBytes);
    writeStringField(writer, 2, version);
  });

export const encodeMembers = (revision: number, clientUrls: readonly string[]): Buffer =>
  encoded(revision, (writer) => {
    writeMessageField(writer, 2, () => {
      for (const url of clientUrls.toReversed()) writeStringField(writer, 4, url);
      writeStringField(writer, 2, 'binnacle');
      writeInt64Field(writer, 1, MEMBER_ID);
    });
  });

export const encodeSnapshotPiece = (revision: number, version: string, remainingBytes: number, blob: Buffer): Buffer =>
  encoded(revision, (writer) => {
    writeStringField(writer, 4, version);
    writeBytesField(writer, 3, blob);
    writeInt64Field(writer, 2, remainingBytes);
  });

/** A lease as it is in etcd's file (etcd server/lease/leasepb/lease.proto). */
export function encodeStoredLease(id: bigint, ttlSeconds: number, remainingSeconds: number): Buffer {
  const writer = new ProtobufWriter();
  writeInt64Field(writer, 3, remainingSeconds);
  writeInt64Field(writer, 2, ttlSeconds);
  writeInt64Field(writer, 1, id);
  return writer.finish();
}

const SERVING = 1;

/** Of grpc.health.v1.Health. */
export function encodeServing(): Buffer {
  const writer = new ProtobufWriter();
  writeInt64Field(writer, 1, SERVING);
  return writer.finish();
}

import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../../encoding/protobuf-wire.ts';

/* The messages of k8s.io/externaljwt/apis/v1/api.proto. */

const [FIRST, SECOND] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES)];
const [FIRST_NUMBER, SECOND_NUMBER, THIRD_NUMBER] = [1, 2, 3].map((number) => tagOf(number, WIRE_VARINT)) as [number, number, number];

export interface SignResponse {
  /** The first and the last segment of the token, as they stand in it. */
  header: string;
  signature: string;
}

export interface FetchedKey {
  keyId: string;
  /** In DER (SubjectPublicKeyInfo). */
  key: Buffer;
  isUnlisted: boolean;
}

export interface Timestamp {
  /** Since 1970. */
  seconds: number | bigint;
  nanos: number;
}

export interface FetchKeysResponse {
  keys: FetchedKey[];
  dataTimestamp: Timestamp | undefined;
  refreshHintSeconds: number | bigint;
}

export function encodeSignRequest(claims: string): Buffer {
  const writer = new ProtobufWriter();
  writer.string(claims);
  writer.varint(FIRST);
  return writer.finish();
}

export function decodeSignResponse(bytes: Buffer): SignResponse {
  const response = { header: '', signature: '' };
  readFields(new ProtobufReader(bytes), (tag, reader) => {
    if (tag === FIRST) response.header = reader.string();
    else if (tag === SECOND) response.signature = reader.string();
    else return false;
    return true;
  });
  return response;
}

export function decodeFetchKeysResponse(bytes: Buffer): FetchKeysResponse {
  const response: FetchKeysResponse = { keys: [], dataTimestamp: undefined, refreshHintSeconds: 0 };
  readFields(new ProtobufReader(bytes), (tag, reader) => {
    if (tag === FIRST) response.keys.push(readKey(reader.message()));
    else if (tag === SECOND) response.dataTimestamp = readTimestamp(reader.message());
    else if (tag === THIRD_NUMBER) response.refreshHintSeconds = reader.int64();
    else return false;
    return true;
  });
  return response;
}

/** The longest lifetime that the signer grants. */
export function decodeMetadataResponse(bytes: Buffer): { maxTokenExpirationSeconds: number | bigint } {
  const response = { maxTokenExpirationSeconds: 0 as number | bigint };
  readFields(new ProtobufReader(bytes), (tag, reader) => {
    if (tag !== FIRST_NUMBER) return false;
    response.maxTokenExpirationSeconds = reader.int64();
    return true;
  });
  return response;
}

function readKey(message: ProtobufReader): FetchedKey {
  const key: FetchedKey = { keyId: '', key: Buffer.alloc(0), isUnlisted: false };
  readFields(message, (tag, reader) => {
    if (tag === FIRST) key.keyId = reader.string();
    else if (tag === SECOND) key.key = reader.bytes();
    else if (tag === THIRD_NUMBER) key.isUnlisted = reader.varint() !== 0;
    else return false;
    return true;
  });
  return key;
}

function readTimestamp(message: ProtobufReader): Timestamp {
  const timestamp: Timestamp = { seconds: 0, nanos: 0 };
  readFields(message, (tag, reader) => {
    if (tag === FIRST_NUMBER) timestamp.seconds = reader.int64();
    else if (tag === SECOND_NUMBER) timestamp.nanos = reader.int32();
    else return false;
    return true;
  });
  return timestamp;
}

/** Calls `read` for each field with its tag; what it does not take (false) is skipped. */
function readFields(reader: ProtobufReader, read: (tag: number, reader: ProtobufReader) => boolean): void {
  while (!reader.done) {
    const tag = reader.varint();
    if (!read(tag, reader)) reader.skip(tag);
  }
}

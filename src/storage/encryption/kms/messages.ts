import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../../../encoding/protobuf-wire.ts';

/* The messages of KMS v2 (k8s.io/kms/apis/v2/api.proto), and of what is stored (…/envelope/kmsv2/v2/api.proto). */

export type Annotations = ReadonlyMap<string, Buffer>;

/** What the DEK source decrypts to: a key, or a seed that keys are made of. */
export const DEK_SOURCE_KEY = 0;
export const DEK_SOURCE_SEED = 1;

export interface EncryptedObject {
  encryptedData: Buffer;
  keyId: string;
  encryptedDekSource: Buffer;
  annotations: Annotations;
  dekSourceType: number;
}

type Field = Buffer | string | Annotations | number;

const [KEY_TAG, VALUE_TAG] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES)];

/** As proto3 has it: fields without a value are left out. `fields` are in the order of their numbers, from 1. */
function encoded(fields: readonly Field[]): Buffer {
  const writer = new ProtobufWriter();
  for (let i = fields.length - 1; i >= 0; i--) writeField(writer, i + 1, fields[i]!);
  return writer.finish();
}

function writeField(writer: ProtobufWriter, number: number, field: Field): void {
  if (typeof field === 'number') {
    if (field === 0) return;
    writer.varint(field);
    writer.varint(tagOf(number, WIRE_VARINT));
  } else if (typeof field === 'string' || Buffer.isBuffer(field)) {
    if (field.length === 0) return;
    if (typeof field === 'string') writer.string(field);
    else writer.bytes(field);
    writer.varint(tagOf(number, WIRE_BYTES));
  } else {
    for (const [key, value] of [...field].toReversed()) {
      const before = writer.size;
      writer.bytes(value);
      writer.varint(VALUE_TAG);
      writer.string(key);
      writer.varint(KEY_TAG);
      writer.lengthSince(before);
      writer.varint(tagOf(number, WIRE_BYTES));
    }
  }
}

/** Calls `read` for each field with its tag; what it does not take (false) is skipped. */
function readFields(bytes: Buffer, read: (tag: number, reader: ProtobufReader) => boolean): void {
  const reader = new ProtobufReader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    if (!read(tag, reader)) reader.skip(tag);
  }
}

function readAnnotation(bytes: Buffer, annotations: Map<string, Buffer>): void {
  let [key, value] = ['', Buffer.alloc(0)];
  readFields(bytes, (tag, reader) => {
    if (tag === KEY_TAG) key = reader.string();
    else if (tag === VALUE_TAG) value = Buffer.from(reader.bytes());
    else return false;
    return true;
  });
  annotations.set(key, value);
}

const [FIRST, SECOND, THIRD, FOURTH] = [1, 2, 3, 4].map((number) => tagOf(number, WIRE_BYTES)) as [number, number, number, number];
const DEK_SOURCE_TYPE = tagOf(5, WIRE_VARINT);

export const encodeEncryptedObject = (object: EncryptedObject): Buffer =>
  encoded([object.encryptedData, object.keyId, object.encryptedDekSource, object.annotations, object.dekSourceType]);

/** Shares `bytes`. */
export function decodeEncryptedObject(bytes: Buffer): EncryptedObject {
  const annotations = new Map<string, Buffer>();
  const object = { encryptedData: Buffer.alloc(0), keyId: '', encryptedDekSource: Buffer.alloc(0), annotations, dekSourceType: 0 };
  readFields(bytes, (tag, reader) => {
    if (tag === FIRST) object.encryptedData = reader.bytes() as Buffer<ArrayBuffer>;
    else if (tag === SECOND) object.keyId = reader.string();
    else if (tag === THIRD) object.encryptedDekSource = reader.bytes() as Buffer<ArrayBuffer>;
    else if (tag === FOURTH) readAnnotation(reader.bytes(), annotations);
    else if (tag === DEK_SOURCE_TYPE) object.dekSourceType = reader.varint();
    else return false;
    return true;
  });
  return object;
}

export interface KmsStatusResponse {
  version: string;
  healthz: string;
  keyId: string;
}

export function decodeStatusResponse(bytes: Buffer): KmsStatusResponse {
  const status = { version: '', healthz: '', keyId: '' };
  readFields(bytes, (tag, reader) => {
    if (tag === FIRST) status.version = reader.string();
    else if (tag === SECOND) status.healthz = reader.string();
    else if (tag === THIRD) status.keyId = reader.string();
    else return false;
    return true;
  });
  return status;
}

export interface DecryptRequest {
  ciphertext: Buffer;
  uid: string;
  keyId: string;
  annotations: Annotations;
}

export const encodeDecryptRequest = ({ ciphertext, uid, keyId, annotations }: DecryptRequest): Buffer => encoded([ciphertext, uid, keyId, annotations]);

/** What a message begins with, in memory of its own. */
export function decodeFirstBytes(bytes: Buffer): Buffer {
  let first = Buffer.alloc(0);
  readFields(bytes, (tag, reader) => {
    if (tag !== FIRST) return false;
    first = Buffer.from(reader.bytes());
    return true;
  });
  return first;
}

/* KMS v1 (k8s.io/kms/apis/v1beta1/api.proto): requests begin with the version, answers have one field that counts. */

export const encodeV1VersionRequest = (version: string): Buffer => encoded([version]);
export const encodeV1Request = (version: string, data: Buffer): Buffer => encoded([version, data]);
export const decodeFirstText = (bytes: Buffer): string => decodeFirstBytes(bytes).toString();

export const encodeEncryptRequest = (plaintext: Buffer, uid: string): Buffer => encoded([plaintext, uid]);

export interface EncryptResponse {
  ciphertext: Buffer;
  keyId: string;
  annotations: Annotations;
}

export function decodeEncryptResponse(bytes: Buffer): EncryptResponse {
  const annotations = new Map<string, Buffer>();
  const response = { ciphertext: Buffer.alloc(0), keyId: '', annotations };
  readFields(bytes, (tag, reader) => {
    if (tag === FIRST) response.ciphertext = Buffer.from(reader.bytes());
    else if (tag === SECOND) response.keyId = reader.string();
    else if (tag === THIRD) readAnnotation(reader.bytes(), annotations);
    else return false;
    return true;
  });
  return response;
}

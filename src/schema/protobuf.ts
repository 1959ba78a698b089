import { badRequest } from '../api/errors.ts';
import { MAX_VALUES } from '../encoding/json-parser.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { messageCodec } from './protobuf-message.ts';
import { ProtobufError, ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES } from '../encoding/protobuf-wire.ts';
import { type SlicedWork, runInSlices } from '../util/time-slice.ts';
import type { ObjectSchema } from './schema.ts';

/**
 * The bytes of an object as a bare message, without envelope; the same for the same object. `object` is a normalized one: its values have the types
 * that the schema says. `kind` and `apiVersion` have no place in it.
 */
export function encodeProtobuf(schema: ObjectSchema, object: object): Buffer {
  const writer = new ProtobufWriter();
  messageCodec(schema).write(writer, object as JsonObject);
  return writer.finish();
}

/** The object in a bare message, normalized and its keys in their order, without `kind` and `apiVersion`. Bad bytes throw badRequest, more than MAX_VALUES values 413. */
export function decodeProtobuf(schema: ObjectSchema, bytes: Buffer): JsonObject {
  return orBadRequest(() => messageCodec(schema).readObject(new ProtobufReader(bytes), 0));
}

/** The same for a message that may be long: others have their turn in the meantime. */
export async function decodeProtobufInSlices(schema: ObjectSchema, bytes: Buffer): Promise<JsonObject> {
  try {
    return await runInSlices(protobufInSteps(schema, bytes));
  } catch (error) {
    throw asBadRequest(error);
  }
}

/** Throws ProtobufError too. */
export function* protobufInSteps(schema: ObjectSchema, bytes: Buffer): SlicedWork<JsonObject> {
  const later: SlicedWork<void>[] = [];
  const object = messageCodec(schema).readObjectLater(new ProtobufReader(bytes, 0, bytes.length, { left: MAX_VALUES, later }), 0);
  // Reading one finds others.
  for (const message of later) yield* message;
  return object;
}

/** The same for bytes that were stored: what was let in once must be read, however many values it has. */
export function decodeStoredProtobuf(schema: ObjectSchema, bytes: Buffer): JsonObject {
  return orBadRequest(() => messageCodec(schema).readObject(new ProtobufReader(bytes, 0, bytes.length, { left: Infinity }), 0));
}

/** runtime.Unknown: what stands around a message on the wire and in etcd, after the four bytes `k8s\0`. */
export interface ProtobufEnvelope {
  apiVersion: string;
  kind: string;
  /** The bare message; with another contentType, whatever that is. */
  raw: Buffer;
  contentEncoding: string;
  contentType: string;
}

const MAGIC = Buffer.from('k8s\0', 'latin1');
const [TYPE_META, RAW, CONTENT_ENCODING, CONTENT_TYPE] = [1, 2, 3, 4].map((number) => tagOf(number, WIRE_BYTES)) as [number, number, number, number];
const [API_VERSION, KIND] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES)];

export const isProtobufEnvelope = (bytes: Uint8Array): boolean => bytes.length >= MAGIC.length && MAGIC.equals(bytes.subarray(0, MAGIC.length));

/** `k8s\0` and the envelope around a bare message. */
export const encodeEnvelope = (apiVersion: string, kind: string, raw: Uint8Array): Buffer =>
  Buffer.concat([envelopeHead(apiVersion, kind, raw.length), raw, ENVELOPE_TAIL]);

/** What stands before the bare message of so many bytes. */
function envelopeHead(apiVersion: string, kind: string, rawBytes: number): Buffer {
  const writer = new ProtobufWriter();
  writer.varint(rawBytes);
  writer.varint(RAW);
  const before = writer.size;
  writer.string(kind);
  writer.varint(KIND);
  writer.string(apiVersion);
  writer.varint(API_VERSION);
  writer.lengthSince(before);
  writer.varint(TYPE_META);
  writer.raw(MAGIC);
  return writer.finish();
}

/** An empty content encoding and content type. */
const ENVELOPE_TAIL = Buffer.from([CONTENT_ENCODING, 0, CONTENT_TYPE, 0]);

/** A field's tag, which takes one byte, and its length. */
function fieldHead(tag: number, sizeBytes: number): Buffer {
  const head = [tag];
  let rest = sizeBytes;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
  head.push(rest);
  return Buffer.from(head);
}

/** Shares `bytes`. Throws badRequest where they are no envelope. */
export function decodeEnvelope(bytes: Buffer): ProtobufEnvelope {
  if (!isProtobufEnvelope(bytes)) throw badRequest(`provided data does not appear to be a protobuf message, expected prefix [${[...MAGIC].join(' ')}]`);
  if (bytes.length === MAGIC.length) throw badRequest('empty body');
  return orBadRequest(() => readEnvelope(new ProtobufReader(bytes, MAGIC.length)));
}

/** Bytes that cannot be read are the client's error. */
function orBadRequest<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asBadRequest(error);
  }
}

const asBadRequest = (error: unknown): unknown => (error instanceof ProtobufError ? badRequest(error.message) : error);

function readEnvelope(reader: ProtobufReader): ProtobufEnvelope {
  const envelope: ProtobufEnvelope = { apiVersion: '', kind: '', raw: Buffer.alloc(0), contentEncoding: '', contentType: '' };
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === TYPE_META) readTypeMeta(reader.message(), envelope);
    else if (tag === RAW) envelope.raw = reader.bytes();
    else if (tag === CONTENT_ENCODING) envelope.contentEncoding = reader.string();
    else if (tag === CONTENT_TYPE) envelope.contentType = reader.string();
    else reader.skip(tag);
  }
  return envelope;
}

function readTypeMeta(reader: ProtobufReader, envelope: ProtobufEnvelope): void {
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === API_VERSION) envelope.apiVersion = reader.string();
    else if (tag === KIND) envelope.kind = reader.string();
    else reader.skip(tag);
  }
}

/** An object with its envelope, as a client is sent it. */
export function encodeProtobufObject(schema: ObjectSchema, object: { apiVersion: string; kind: string }): Buffer {
  return encodeEnvelope(object.apiVersion, object.kind, encodeProtobuf(schema, object));
}

const [LIST_METADATA, LIST_ITEM] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES)];

/** Items that are encoded when a list is measured are kept until it is written, up to so many bytes; beyond that they are encoded again. */
const KEPT_ITEM_BYTES = 1024 * 1024;

/**
 * A list, item by item: every List kind has its metadata as field 1 and its items as field 2. Its length comes before it, so that all items are encoded to
 * be measured (those steps make no piece, and are undefined) before the first is written. `messageOf` gives the same for the same item; `metadata` is an
 * encoded ListMeta.
 */
export function* encodeProtobufList<Item>(
  type: { apiVersion: string; kind: string },
  metadata: Buffer,
  items: readonly Item[],
  messageOf: (item: Item) => Buffer,
): Iterable<Buffer | undefined> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  const metadataHead = fieldHead(LIST_METADATA, metadata.length);
  let sizeBytes = metadataHead.length + metadata.length;
  for (const item of items) {
    const message = messageOf(item);
    sizeBytes += fieldHead(LIST_ITEM, message.length).length + message.length;
    if (keptBytes <= KEPT_ITEM_BYTES) keptBytes += kept[kept.push(message) - 1]!.length;
    yield undefined;
  }
  yield envelopeHead(type.apiVersion, type.kind, sizeBytes);
  yield metadataHead;
  yield metadata;
  for (const [index, item] of items.entries()) {
    const message = kept[index] ?? messageOf(item);
    yield fieldHead(LIST_ITEM, message.length);
    yield message;
  }
  yield ENVELOPE_TAIL;
}

const [EVENT_TYPE, EVENT_OBJECT, RAW_EXTENSION] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES), tagOf(1, WIRE_BYTES)];

/**
 * One frame of a protobuf watch: four bytes of length, then a bare WatchEvent whose object is `envelope`, an object with its envelope
 * (apimachinery's LengthDelimitedFramer and protobuf raw serializer).
 */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Buffer {
  const writer = new ProtobufWriter();
  writer.bytes(envelope);
  writer.varint(RAW_EXTENSION);
  writer.lengthSince(0);
  writer.varint(EVENT_OBJECT);
  writer.string(type);
  writer.varint(EVENT_TYPE);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(writer.size);
  writer.raw(length);
  return writer.finish();
}

import { hasKind, schemaOfKind } from '../src/apis/facts/schemas.ts';
import { decodeEnvelope, decodeStoredProtobuf, encodeProtobuf } from '../src/schema/protobuf.ts';
import { ProtobufReader, WIRE_BYTES, tagOf } from '../src/encoding/protobuf-wire.ts';
import { parseApiVersion } from '../src/api/api-object.ts';
import type { Json } from '../src/encoding/json-types.ts';

/** Where an answer says that its bytes are not in the form in which they would be written here. */
export const FORM = '«protobuf»';

/** The object in a protobuf answer. Where its bytes are not those that this object is written with, it says so: then they differ in form though not in meaning. */
export function decodeProtobufBody(bytes: Buffer): Json {
  try {
    const { apiVersion, kind, raw, contentType, contentEncoding } = decodeEnvelope(bytes);
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    if (contentType !== '' || !hasKind(group, version, kind)) return { apiVersion, kind, contentType, contentEncoding, base64: raw.toString('base64') };
    const schema = schemaOfKind(group, version, kind);
    const object = decodeStoredProtobuf(schema, raw);
    const isCanonical = encodeProtobuf(schema, object).equals(raw);
    return { kind, apiVersion, ...object, ...(!isCanonical && { [FORM]: 'not in the canonical form' }) };
  } catch (error) {
    return `unreadable protobuf: ${(error as Error).message}`;
  }
}

const FRAME_HEAD_BYTES = 4;
const [EVENT_TYPE, EVENT_OBJECT, RAW_EXTENSION] = [tagOf(1, WIRE_BYTES), tagOf(2, WIRE_BYTES), tagOf(1, WIRE_BYTES)];

/** The events whose frames are complete. */
export function decodeWatchFrames(bytes: Buffer): Json[] {
  const events: Json[] = [];
  for (let at = 0; at + FRAME_HEAD_BYTES <= bytes.length;) {
    const end = at + FRAME_HEAD_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    events.push(decodeEvent(new ProtobufReader(bytes.subarray(at + FRAME_HEAD_BYTES, end))));
    at = end;
  }
  return events;
}

function decodeEvent(reader: ProtobufReader): Json {
  const event: { type: string; object: Json } = { type: '', object: null };
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === EVENT_TYPE) event.type = reader.string();
    else if (tag === EVENT_OBJECT) event.object = decodeExtension(reader.message());
    else reader.skip(tag);
  }
  return event;
}

function decodeExtension(reader: ProtobufReader): Json {
  let object: Json = null;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === RAW_EXTENSION) object = decodeProtobufBody(reader.bytes());
    else reader.skip(tag);
  }
  return object;
}

import { badRequest } from '../api/errors.ts';
import { parseJson, stringifyJson } from '../encoding/json.ts';
import type { Json } from '../encoding/json-types.ts';
import { canonicalQuantity } from '../api/quantity.ts';
import { type ProtobufReader, type ProtobufWriter, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, tagOf } from '../encoding/protobuf-wire.ts';
import type { ScalarType } from './schema.ts';

/** One kind of value, with its length where it has one but without its tag. */
export interface ValueCodec {
  wireType: number;
  write(writer: ProtobufWriter, value: Json): void;
  read(reader: ProtobufReader, depth: number): Json;
  /** What a Go variable of the type is before it is set, as JSON; what is written where a field that is no pointer has no value. */
  zero: Json;
}

const FIRST_VARINT = tagOf(1, WIRE_VARINT);
const FIRST_BYTES = tagOf(1, WIRE_BYTES);
const SECOND_VARINT = tagOf(2, WIRE_VARINT);
const THIRD_BYTES = tagOf(3, WIRE_BYTES);

/** Reads a nested message field by field; what `read` does not take is passed over. */
export function readMessage(reader: ProtobufReader, read: (tag: number, message: ProtobufReader) => boolean): void {
  const message = reader.message();
  while (!message.done) {
    const tag = message.varint();
    if (!read(tag, message)) message.skip(tag);
  }
}

const string: ValueCodec = {
  wireType: WIRE_BYTES,
  write: (writer, value) => writer.string(value as string),
  read: (reader) => reader.string(),
  zero: '',
};

const boolean: ValueCodec = {
  wireType: WIRE_VARINT,
  write: (writer, value) => writer.varint(value ? 1 : 0),
  read: (reader) => reader.varint() !== 0,
  zero: false,
};

const int32: ValueCodec = {
  wireType: WIRE_VARINT,
  write: (writer, value) => writer.int64(value as number),
  read: (reader) => reader.int32(),
  zero: 0,
};

const int64: ValueCodec = {
  wireType: WIRE_VARINT,
  write: (writer, value) => writer.int64(value as number | bigint),
  read: (reader) => reader.int64(),
  zero: 0,
};

const double: ValueCodec = {
  wireType: WIRE_FIXED64,
  write: (writer, value) => writer.double(Number(value)),
  read: (reader) => reader.double(),
  zero: 0,
};

const bytes: ValueCodec = {
  wireType: WIRE_BYTES,
  write: (writer, value) => writer.bytes(Buffer.from((value as string | null) ?? '', 'base64')),
  read: (reader) => reader.bytes().toString('base64'),
  zero: null,
};

/** A message with the canonical text as its only field (apimachinery/pkg/api/resource, generated.proto). */
const quantity: ValueCodec = {
  wireType: WIRE_BYTES,
  write(writer, value) {
    const before = writer.size;
    writer.string(String(value));
    writer.varint(FIRST_BYTES);
    writer.lengthSince(before);
  },
  read(reader) {
    let text = '';
    readMessage(reader, (tag, message) => {
      if (tag !== FIRST_BYTES) return false;
      text = message.string();
      return true;
    });
    return text === '' ? '0' : orBadRequest(() => canonicalQuantity(text));
  },
  zero: '0',
};

/** Which of the two it is, then both (apimachinery/pkg/util/intstr). */
const intOrString: ValueCodec = {
  wireType: WIRE_BYTES,
  write(writer, value) {
    const before = writer.size;
    writer.string(typeof value === 'string' ? value : '');
    writer.varint(THIRD_BYTES);
    writer.int64(typeof value === 'string' ? 0 : (value as number));
    writer.varint(SECOND_VARINT);
    writer.varint(typeof value === 'string' ? 1 : 0);
    writer.varint(FIRST_VARINT);
    writer.lengthSince(before);
  },
  read(reader) {
    let [isString, number, text] = [false, 0, ''];
    readMessage(reader, (tag, message) => {
      if (tag === FIRST_VARINT) isString = message.varint() === 1;
      else if (tag === SECOND_VARINT) number = message.int32();
      else if (tag === THIRD_BYTES) text = message.string();
      else return false;
      return true;
    });
    return isString ? text : number;
  },
  zero: 0,
};

/** JSON kept as its bytes: RawExtension, FieldsV1 and apiextensions' JSON are all a message with them as the only field. */
const any: ValueCodec = {
  wireType: WIRE_BYTES,
  write(writer, value) {
    const before = writer.size;
    if (value !== null) {
      writer.string(stringifyJson(value));
      writer.varint(FIRST_BYTES);
    }
    writer.lengthSince(before);
  },
  read(reader) {
    let value: Json = null;
    readMessage(reader, (tag, message) => {
      if (tag !== FIRST_BYTES) return false;
      const raw = message.bytes();
      value = raw.length === 0 ? null : orBadRequest(() => parseJson(raw));
      return true;
    });
    return value;
  },
  zero: null,
};

/** What does not follow its own grammar is the client's error, as bad bytes are. */
function orBadRequest<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

/** Seconds of Go's zero time, 0001-01-01T00:00:00Z, which is written as an empty message and shown as null. */
const ZERO_TIME_SECONDS = -62135596800;
/** The years that RFC 3339 can write: up to 9999-12-31T23:59:59Z. */
const MAX_TIME_SECONDS = 253402300799;

/** `fractionDigits` of the second are kept: none for Time, six for MicroTime (apimachinery/pkg/apis/meta/v1, time_proto.go and micro_time_proto.go). */
const timestamp = (fractionDigits: 0 | 6): ValueCodec => ({
  wireType: WIRE_BYTES,
  write(writer, value) {
    const before = writer.size;
    const time = value === null ? undefined : parseTime(value as string);
    if (time !== undefined && time.seconds !== ZERO_TIME_SECONDS) {
      writer.varint(fractionDigits === 0 ? 0 : time.nanos);
      writer.varint(SECOND_VARINT);
      writer.int64(time.seconds);
      writer.varint(FIRST_VARINT);
    }
    writer.lengthSince(before);
  },
  read(reader) {
    let isEmpty = true;
    let [seconds, nanos] = [0, 0];
    readMessage(reader, (tag, message) => {
      isEmpty = false;
      if (tag === FIRST_VARINT) seconds = Number(message.int64());
      else if (tag === SECOND_VARINT) nanos = message.int32();
      else return false;
      return true;
    });
    return isEmpty || seconds === ZERO_TIME_SECONDS ? null : formatTime(seconds, nanos, fractionDigits);
  },
  zero: null,
});

function parseTime(text: string): { seconds: number; nanos: number } {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const seconds = Math.floor(Date.parse(fraction === '' ? text : text.replace(`.${fraction}`, '')) / 1000);
  if (Number.isNaN(seconds)) throw badRequest(`parsing time ${JSON.stringify(text)}: not an RFC 3339 time`);
  return { seconds, nanos: Number(fraction.slice(0, 6).padEnd(6, '0')) * 1000 };
}

function formatTime(seconds: number, nanos: number, fractionDigits: 0 | 6): string {
  if (seconds < ZERO_TIME_SECONDS || seconds > MAX_TIME_SECONDS || nanos < 0 || nanos >= 1e9)
    throw badRequest('Time.MarshalJSON: year outside of range [0,9999]');
  const whole = new Date(seconds * 1000).toISOString().slice(0, -'.000Z'.length);
  return fractionDigits === 0 ? `${whole}Z` : `${whole}.${String(Math.floor(nanos / 1000)).padStart(fractionDigits, '0')}Z`;
}

/** `duration` stands in no type that has a protobuf form. */
export const SCALAR_CODECS: Readonly<Record<Exclude<ScalarType, 'duration'>, ValueCodec>> = {
  string,
  boolean,
  int32,
  int64,
  double,
  bytes,
  quantity,
  intOrString,
  any,
  time: timestamp(0),
  microTime: timestamp(6),
};

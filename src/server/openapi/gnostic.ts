import { ProtobufWriter, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, tagOf } from '../../encoding/protobuf-wire.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';

/**
 * The protobuf form of OpenAPI documents (github.com/google/gnostic): small encoders of which `gnostic-v2.ts` and `gnostic-v3.ts` are put together. All
 * write from the end to the start, as ProtobufWriter does.
 */

/** Writes the content of a message. */
export type Encode = (writer: ProtobufWriter, value: Json) => void;
/** Writes a value as the field of that number, tag and all; nothing where proto3 leaves it out. */
export type MessageField = (writer: ProtobufWriter, number: number, value: Json) => void;

/** A message by the keys of its JSON form, each with number and writer; `extensions` is the number that `x-…` keys go to. */
export function message(fields: MessageFields, extensions?: number): Encode {
  const all: [number: number, write: (writer: ProtobufWriter, object: JsonObject) => void][] = Object.entries(fields).map(([key, [number, field]]) => [
    number,
    (writer, object) => {
      const value = object[key];
      if (value !== undefined && Object.hasOwn(object, key)) field(writer, number, value);
    },
  ]);
  if (extensions !== undefined) all.push([extensions, (writer, object) => extensionsField(writer, extensions, object)]);
  const lastFirst = all.toSorted(([a], [b]) => b - a).map(([, write]) => write);
  return (writer, value) => lastFirst.forEach((write) => write(writer, value as JsonObject));
}

/** A message that holds one of several, by what the value is. */
export const choice =
  (choose: (value: Json) => [number: number, field: MessageField]): Encode =>
  (writer, value) => {
    const [number, field] = choose(value);
    field(writer, number, value);
  };

/** A message whose only field has this number. */
export const only =
  (number: number, field: MessageField): Encode =>
  (writer, value) =>
    field(writer, number, value);

const encoded = (encode: Encode, value: Json): Buffer => {
  const writer = new ProtobufWriter();
  encode(writer, value);
  return writer.finish();
};

/** Entries of a large map that are written in one step. They take some ten microseconds each. */
const ENTRIES_AT_ONCE = 20;

/** A document by the keys of its JSON form. `maps` are those that are large, with the writer of a message that holds their entries. */
export function* encodeDocument(fields: MessageFields, maps: Record<string, [number: number, encode: Encode]>, document: JsonObject): SlicedWork<Buffer> {
  const pieces: [number: number, bytes: Buffer][] = Object.entries(fields).map(([key, field]) => [field[0], encoded(message({ [key]: field }), document)]);
  for (const [key, [number, encode]] of Object.entries(maps)) {
    if (document[key] === undefined) continue;
    const entries = Object.entries(document[key] as JsonObject);
    const content: Buffer[] = [];
    for (let start = 0; start < entries.length; start += ENTRIES_AT_ONCE) {
      yield;
      content.push(encoded(encode, Object.fromEntries(entries.slice(start, start + ENTRIES_AT_ONCE))));
    }
    const head = new ProtobufWriter();
    head.varint(content.reduce((size, { length }) => size + length, 0));
    head.varint(tagOf(number, WIRE_BYTES));
    pieces.push([number, Buffer.concat([head.finish(), ...content])]);
  }
  return Buffer.concat(pieces.toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes));
}

export const text: MessageField = (writer, number, value) => {
  if (value === '') return;
  writer.string(value as string);
  writer.varint(tagOf(number, WIRE_BYTES));
};

export const flag: MessageField = (writer, number, value) => {
  if (value !== true) return;
  writer.varint(1);
  writer.varint(tagOf(number, WIRE_VARINT));
};

export const double: MessageField = (writer, number, value) => {
  if (value === 0) return;
  writer.double(Number(value));
  writer.varint(tagOf(number, WIRE_FIXED64));
};

export const integer: MessageField = (writer, number, value) => {
  if (value === 0) return;
  writer.int64(value as number | bigint);
  writer.varint(tagOf(number, WIRE_VARINT));
};

/** A field of a oneof is written although it is zero: that it is there is what it says. */
export const chosenText: MessageField = (writer, number, value) => {
  writer.string(value as string);
  writer.varint(tagOf(number, WIRE_BYTES));
};
export const chosenFlag: MessageField = (writer, number, value) => {
  writer.varint(value === true ? 1 : 0);
  writer.varint(tagOf(number, WIRE_VARINT));
};
export const chosenDouble: MessageField = (writer, number, value) => {
  writer.double(Number(value));
  writer.varint(tagOf(number, WIRE_FIXED64));
};

/** Looked up when it is used, so that messages may hold themselves. */
export const nested =
  (encode: () => Encode): MessageField =>
  (writer, number, value) => {
    const before = writer.size;
    encode()(writer, value);
    writer.lengthSince(before);
    writer.varint(tagOf(number, WIRE_BYTES));
  };

export const repeated =
  (field: MessageField): MessageField =>
  (writer, number, value) =>
    (value as Json[]).toReversed().forEach((item) => field(writer, number, item));

/** An object as a list of messages with name and value. */
export const named = (field: MessageField): MessageField => {
  const pair: MessageField = (writer, number, value) => {
    const [name, inner] = value as [string, Json];
    const before = writer.size;
    field(writer, 2, inner);
    text(writer, 1, name);
    writer.lengthSince(before);
    writer.varint(tagOf(number, WIRE_BYTES));
  };
  return (writer, number, value) => repeated(pair)(writer, number, Object.entries(value as JsonObject) as Json[]);
};

/** Any value, as YAML; JSON is that too. */
export const any: MessageField = nested(() => (writer, value) => text(writer, 2, `${JSON.stringify(value)}\n`));

const extensionEntries = named(any);

const extensionsField: MessageField = (writer, number, value) => {
  const extensions = Object.entries(value as JsonObject).filter(([key]) => key.startsWith('x-'));
  if (extensions.length > 0) extensionEntries(writer, number, Object.fromEntries(extensions));
};

export type MessageFields = Record<string, [number: number, field: MessageField]>;

/** Fields that follow one another in a message, from the one of that number on. */
const numbered = (first: number, fields: Record<string, MessageField>): MessageFields =>
  Object.fromEntries(Object.entries(fields).map(([key, field], index) => [key, [first + index, field]]));

/** What a schema says of its values: in one order in both versions. */
export const constraintsFrom = (first: number): MessageFields =>
  numbered(first, {
    multipleOf: double,
    maximum: double,
    exclusiveMaximum: flag,
    minimum: double,
    exclusiveMinimum: flag,
    maxLength: integer,
    minLength: integer,
    pattern: text,
    maxItems: integer,
    minItems: integer,
    uniqueItems: flag,
    maxProperties: integer,
    minProperties: integer,
    required: repeated(text),
    enum: repeated(any),
  });

/** A path's operations, likewise. */
export const methodsFrom = (first: number, operation: MessageField): MessageFields =>
  numbered(first, Object.fromEntries(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'].map((method) => [method, operation])));

export const isReference = (value: Json): boolean => typeof value === 'object' && value !== null && Object.hasOwn(value, '$ref');

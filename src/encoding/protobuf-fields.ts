import { ProtobufReader, type ProtobufWriter, WIRE_BYTES, WIRE_VARINT, tagOf } from './protobuf-wire.ts';

/* Fields of messages that are written and read by hand. Writers go from the end to the start: last fields first. What has proto3's default is left out. */

export function writeStringField(writer: ProtobufWriter, field: number, text: string | undefined): void {
  if (text === undefined || text === '') return;
  writer.string(text);
  writer.varint(tagOf(field, WIRE_BYTES));
}

export function writeBytesField(writer: ProtobufWriter, field: number, bytes: Uint8Array | undefined): void {
  if (bytes === undefined || bytes.length === 0) return;
  writer.bytes(bytes);
  writer.varint(tagOf(field, WIRE_BYTES));
}

export function writeInt64Field(writer: ProtobufWriter, field: number, value: number | bigint | undefined): void {
  if (!value) return;
  writer.int64(value);
  writer.varint(tagOf(field, WIRE_VARINT));
}

export function writeBoolField(writer: ProtobufWriter, field: number, value: boolean | undefined): void {
  if (!value) return;
  writer.varint(1);
  writer.varint(tagOf(field, WIRE_VARINT));
}

/** A message that is empty is written all the same. */
export function writeMessageField(writer: ProtobufWriter, field: number, write: () => void): void {
  const before = writer.size;
  write();
  writer.lengthSince(before);
  writer.varint(tagOf(field, WIRE_BYTES));
}

/** Of bytes from a peer that is trusted as far as their number: values in them are not counted. */
export const trustedReader = (bytes: Buffer): ProtobufReader => new ProtobufReader(bytes, 0, bytes.length, { left: Infinity });

/** Calls `read` at every field; it reads or skips the field's value. */
export function forEachField(reader: ProtobufReader, read: (tag: number, reader: ProtobufReader) => void): void {
  while (!reader.done) read(reader.varint(), reader);
}

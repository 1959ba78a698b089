import { ProtobufReader, ProtobufWriter, tagOf, WIRE_BYTES, WIRE_VARINT } from '../../encoding/protobuf-wire.ts';

/* The packets of konnectivity's ProxyService (apiserver-network-proxy/konnectivity-client/proto/client/client.proto). */

export const PacketType = { dialReq: 0, dialRsp: 1, closeReq: 2, closeRsp: 3, data: 4, dialCls: 5, drain: 6 } as const;

/** As metrics name them. */
export const PACKET_NAMES: readonly string[] = ['DIAL_REQ', 'DIAL_RSP', 'CLOSE_REQ', 'CLOSE_RSP', 'DATA', 'DIAL_CLS', 'DRAIN'];

/** A number of 64 bits. */
export type PacketId = number | bigint;

/** One packet with the fields of whatever payload it has; what it does not have is empty. */
export interface Packet {
  type: number;
  error: string;
  connectId: PacketId;
  /** The number of a dial, which its answers repeat. */
  random: PacketId;
  /** Shares the memory of what was decoded. */
  data: Buffer;
}

const NO_DATA = Buffer.alloc(0);
const TYPE_TAG = tagOf(1, WIRE_VARINT);
/** The field of the payload, by type. */
const PAYLOAD_FIELDS = [2, 3, 5, 6, 4, 7, 8];

export const encodeDialRequest = (address: string, random: PacketId): Buffer =>
  encoded(PacketType.dialReq, (writer) => {
    writeId(writer, 3, random);
    writer.string(address);
    writer.varint(tagOf(2, WIRE_BYTES));
    writer.string('tcp');
    writer.varint(tagOf(1, WIRE_BYTES));
  });

export const encodeData = (connectId: PacketId, data: Buffer): Buffer =>
  encoded(PacketType.data, (writer) => {
    writer.bytes(data);
    writer.varint(tagOf(3, WIRE_BYTES));
    writeId(writer, 1, connectId);
  });

export const encodeCloseRequest = (connectId: PacketId): Buffer => encoded(PacketType.closeReq, (writer) => writeId(writer, 1, connectId));

export const encodeDialClose = (random: PacketId): Buffer => encoded(PacketType.dialCls, (writer) => writeId(writer, 1, random));

/** Written from the last field to the first. */
function encoded(type: number, writePayload: (writer: ProtobufWriter) => void): Buffer {
  const writer = new ProtobufWriter();
  writePayload(writer);
  writer.lengthSince(0);
  writer.varint(tagOf(PAYLOAD_FIELDS[type]!, WIRE_BYTES));
  if (type !== 0) {
    writer.varint(type);
    writer.varint(TYPE_TAG);
  }
  return writer.finish();
}

/** A field of 64 bits. */
export function writeId(writer: ProtobufWriter, field: number, id: PacketId): void {
  if (typeof id === 'number' && id >= 0) writer.varint(id);
  else writer.raw(varintOf(BigInt.asUintN(64, BigInt(id))));
  writer.varint(tagOf(field, WIRE_VARINT));
}

function varintOf(value: bigint): Buffer {
  const bytes: number[] = [];
  for (; value > 0x7fn; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(value)]);
}

/** Throws ProtobufError. */
export function decodePacket(bytes: Buffer): Packet {
  const packet: Packet = { type: 0, error: '', connectId: 0, random: 0, data: NO_DATA };
  const reader = new ProtobufReader(bytes);
  while (!reader.done) {
    const tag = reader.varint();
    const payload = PAYLOAD_READERS.get(tag);
    if (tag === TYPE_TAG) packet.type = reader.int32();
    else if (payload) readPayload(reader.message(), payload, packet);
    else reader.skip(tag);
  }
  return packet;
}

type ReadField = (reader: ProtobufReader, packet: Packet) => void;

const error: ReadField = (reader, packet) => void (packet.error = reader.string());
const connectId: ReadField = (reader, packet) => void (packet.connectId = reader.int64());
const random: ReadField = (reader, packet) => void (packet.random = reader.int64());
const data: ReadField = (reader, packet) => void (packet.data = reader.bytes());

const [TEXT_1, NUMBER_1, NUMBER_2, NUMBER_3, BYTES_3] = [
  tagOf(1, WIRE_BYTES),
  tagOf(1, WIRE_VARINT),
  tagOf(2, WIRE_VARINT),
  tagOf(3, WIRE_VARINT),
  tagOf(3, WIRE_BYTES),
] as const;

/** What a client is sent, by the tag of the payload, and by the tags of its fields. */
const PAYLOAD_READERS: ReadonlyMap<number, ReadonlyMap<number, ReadField>> = new Map([
  [tagOf(3, WIRE_BYTES), new Map([[TEXT_1, error], [NUMBER_2, connectId], [NUMBER_3, random]])], // prettier-ignore
  [tagOf(4, WIRE_BYTES), new Map([[NUMBER_1, connectId], [tagOf(2, WIRE_BYTES), error], [BYTES_3, data]])], // prettier-ignore
  [tagOf(6, WIRE_BYTES), new Map([[TEXT_1, error], [NUMBER_2, connectId]])], // prettier-ignore
  [tagOf(7, WIRE_BYTES), new Map([[NUMBER_1, random]])],
]);

function readPayload(reader: ProtobufReader, fields: ReadonlyMap<number, ReadField>, packet: Packet): void {
  while (!reader.done) {
    const tag = reader.varint();
    const read = fields.get(tag);
    if (read) read(reader, packet);
    else reader.skip(tag);
  }
}

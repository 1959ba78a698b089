import type { Json } from '../../src/encoding/json-types.ts';

const MAJOR = { integer: 0, text: 3, list: 4, map: 5 };
const FALSE = 0xf4;
const TRUE = 0xf5;

/** CBOR of JSON (RFC 8949), without fractions and negative numbers: as much of it as attacks send. */
export function encodeCbor(value: Json | object): Buffer {
  if (typeof value === 'string') return encodeText(value);
  if (typeof value === 'number') return head(MAJOR.integer, value);
  if (typeof value === 'boolean') return Buffer.from([value ? TRUE : FALSE]);
  if (Array.isArray(value)) return Buffer.concat([head(MAJOR.list, value.length), ...value.map((item: Json) => encodeCbor(item))]);
  const entries = Object.entries(value!) as [string, Json][];
  return Buffer.concat([head(MAJOR.map, entries.length), ...entries.flatMap(([key, inner]) => [encodeText(key), encodeCbor(inner)])]);
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([head(MAJOR.text, bytes.length), bytes]);
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  const bytes = Buffer.alloc(5);
  bytes[0] = (major << 5) | 26;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

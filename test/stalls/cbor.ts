/** CBOR of texts and of maps of them (RFC 8949): as much of it as attacks send. */
export function encodeCbor(value: string | object): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  const entries = Object.entries(value) as [string, string | object][];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, inner]) => [encodeCbor(key), encodeCbor(inner)])]);
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  const bytes = Buffer.alloc(5);
  bytes[0] = (major << 5) | 26;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

/** The part of ASN.1 DER (X.690) that certificates are written in: a writer of nested values and a reader that trusts no length. */

export const Tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The tag of a context-specific value: `[number]`, constructed unless it is a primitive. */
export const contextTag = (number: number, primitive = false): number => (primitive ? 0x80 : 0xa0) | number;

export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(Tag.sequence, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => der(Tag.set, ...parts);
export const octetString = (content: Buffer): Buffer => der(Tag.octetString, content);
export const utf8String = (text: string): Buffer => der(Tag.utf8String, Buffer.from(text));
export const trueValue: Buffer = der(Tag.boolean, Buffer.from([0xff]));

/** A whole number of bytes; no bit is unused. */
export const bitString = (content: Buffer, unusedBits = 0): Buffer => der(Tag.bitString, Buffer.from([unusedBits]), content);

/** A non-negative integer of any size, given big-endian. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  return trimmed[0]! & 0x80 ? der(Tag.integer, Buffer.from([0]), trimmed) : der(Tag.integer, trimmed);
}

export function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  return der(Tag.oid, Buffer.from([first! * 40 + second!, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80);
  return bytes;
}

/** UTCTime until 2049, GeneralizedTime from then on (RFC 5280 §4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050 ? der(Tag.utcTime, Buffer.from(digits.slice(2))) : der(Tag.generalizedTime, Buffer.from(digits));
}

/** One value: its tag, what it holds, and all its bytes. The buffers are views on what was read. */
export interface DerValue {
  tag: number;
  content: Buffer;
  raw: Buffer;
}

export class DerError extends Error {}

/** Reads the value that starts at an offset. Throws DerError for anything cut off, indefinite or absurd. */
export function readValue(bytes: Buffer, offset = 0): DerValue {
  if (offset + 2 > bytes.length) throw new DerError('value is cut off');
  const tag = bytes[offset]!;
  if ((tag & 0x1f) === 0x1f) throw new DerError('tags of several bytes are not used in certificates');
  let length = bytes[offset + 1]!;
  let start = offset + 2;
  if (length >= 0x80) {
    const lengthBytes = length & 0x7f;
    if (lengthBytes === 0 || lengthBytes > 4 || start + lengthBytes > bytes.length) throw new DerError('bad length');
    length = bytes.readUIntBE(start, lengthBytes);
    start += lengthBytes;
  }
  if (start + length > bytes.length) throw new DerError('value is cut off');
  return { tag, content: bytes.subarray(start, start + length), raw: bytes.subarray(offset, start + length) };
}

/** The values that a constructed value holds, in order. */
export function readChildren(content: Buffer): DerValue[] {
  const children: DerValue[] = [];
  for (let offset = 0; offset < content.length;) {
    const child = readValue(content, offset);
    children.push(child);
    offset += child.raw.length;
  }
  return children;
}

export function readOid({ tag, content }: DerValue): string {
  if (tag !== Tag.oid || content.length === 0 || content[content.length - 1]! & 0x80) throw new DerError('bad object identifier');
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw new DerError('bad object identifier');
    if (byte & 0x80) continue;
    if (parts.length > 0) parts.push(value);
    else parts.push(Math.min(Math.floor(value / 40), 2), value - Math.min(Math.floor(value / 40), 2) * 40);
    value = 0;
  }
  return parts.join('.');
}

export function readTime({ tag, content }: DerValue): Date {
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(content.toString('latin1'));
  if (!match || (tag !== Tag.utcTime && tag !== Tag.generalizedTime) || (match[1]!.length === 2) !== (tag === Tag.utcTime)) throw new DerError('bad time');
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [number, number, number, number, number, number];
  const century = tag === Tag.generalizedTime ? 0 : year >= 50 ? 1900 : 2000;
  return new Date(Date.UTC(century + year, month - 1, day, hour, minute, second));
}

/** The text of a directory string; undefined when the value is of another type. */
export function readText({ tag, content }: DerValue): string | undefined {
  switch (tag) {
    case Tag.utf8String:
      return content.toString('utf8');
    case Tag.printableString:
    case Tag.ia5String:
    case Tag.numericString:
    case Tag.t61String:
      return content.toString('latin1');
    case Tag.bmpString:
      return Buffer.from(content.subarray(0, content.length & ~1))
        .swap16()
        .toString('utf16le');
    default:
      return undefined;
  }
}

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
    // DER has one way to write a length: the shortest (X.690 §10.1).
    if (length < 0x80 || length < 2 ** (8 * (lengthBytes - 1))) throw new DerError('bad length');
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

/** Reads the values inside a constructed value one after another. One that is not there, or is of another type, is a DerError in the caller's words. */
export class DerReader {
  readonly #content: Buffer;
  #offset = 0;

  constructor(content: Buffer) {
    this.#content = content;
  }

  get isEmpty(): boolean {
    return this.#offset >= this.#content.length;
  }

  nextIs(tag: number): boolean {
    return !this.isEmpty && this.#content[this.#offset] === tag;
  }

  readAny(problem: string): DerValue {
    let value: DerValue;
    try {
      value = readValue(this.#content, this.#offset);
    } catch {
      throw new DerError(problem);
    }
    this.#offset += value.raw.length;
    return value;
  }

  read(tag: number, problem: string): DerValue {
    const value = this.readAny(problem);
    if (value.tag !== tag) throw new DerError(problem);
    return value;
  }

  readOptional(tag: number, problem: string): DerValue | undefined {
    return this.nextIs(tag) ? this.read(tag, problem) : undefined;
  }

  /** The values inside the next value. */
  enter(tag: number, problem: string): DerReader {
    return new DerReader(this.read(tag, problem).content);
  }
}

/** As Go reads them: no part may be written in more bytes than it needs, nor be 2³¹ or more. */
export function readOid({ tag, content }: DerValue): string {
  if (tag !== Tag.oid || content.length === 0 || content[content.length - 1]! & 0x80) throw new DerError('bad object identifier');
  const parts: number[] = [];
  let value = 0;
  let isFirstByte = true;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if ((isFirstByte && byte === 0x80) || value > 0x7fff_ffff) throw new DerError('bad object identifier');
    isFirstByte = (byte & 0x80) === 0;
    if (!isFirstByte) continue;
    if (parts.length > 0) parts.push(value);
    else parts.push(Math.min(Math.floor(value / 40), 2), value - Math.min(Math.floor(value / 40), 2) * 40);
    value = 0;
  }
  return parts.join('.');
}

/** Whether the bytes are an INTEGER in its shortest form. */
export const isMinimalInteger = (content: Buffer): boolean =>
  content.length > 0 && !(content.length > 1 && ((content[0] === 0 && content[1]! < 0x80) || (content[0] === 0xff && content[1]! >= 0x80)));

/** Two's complement. */
export const readSigned = (content: Buffer): bigint => BigInt.asIntN(content.length * 8, BigInt(`0x${content.toString('hex') || '0'}`));

const UTC_TIME = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(Z|[+-]\d{4})$/;
const GENERALIZED_TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(Z|[+-]\d{4})$/;

/** As Go reads them: UTCTime may leave out its seconds, and both may have an offset. */
export function readTime({ tag, content }: DerValue): Date {
  const match = (tag === Tag.utcTime ? UTC_TIME : tag === Tag.generalizedTime ? GENERALIZED_TIME : undefined)?.exec(content.toString('latin1'));
  if (!match) throw new DerError('bad time');
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((digits) => Number(digits ?? '0')) as [number, number, number, number, number, number];
  const century = tag === Tag.generalizedTime ? 0 : year >= 50 ? 1900 : 2000;
  const at = new Date(0);
  at.setUTCFullYear(century + year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  const isRolledOver = at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day || at.getUTCHours() !== hour || minute > 59 || second > 59;
  if (isRolledOver || match[7] === '+0000' || match[7] === '-0000') throw new DerError('bad time');
  return new Date(at.getTime() - offsetMs(match[7]!));
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
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

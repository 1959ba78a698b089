import { LARGE_OBJECT_KEYS, LARGE_OBJECT_KEY_VALUES, MAX_DEPTH, MAX_VALUES, tooManyValues, valuesOfDepth } from './json-parser.ts';

/**
 * CBOR (RFC 8949) as apimachinery/pkg/runtime/serializer/cbor has it (KEP-4222). Here: what data items are made of, and whether bytes are well-formed.
 * Messages are those of upstream's library (fxamacker/cbor), since clients are shown them.
 */

/** Bytes that are no CBOR, or CBOR that is not taken. */
export class CborError extends Error {}

export const UNSIGNED = 0;
export const NEGATIVE = 1;
export const BYTES = 2;
export const TEXT = 3;
export const ARRAY = 4;
export const MAP = 5;
export const TAG = 6;
export const PRIMITIVE = 7;

/** By major type, as the messages name them. */
export const MAJOR_NAMES = ['positive integer', 'negative integer', 'byte string', 'UTF-8 text string', 'array', 'map', 'tag', 'primitives'] as const;

/** Additional information: where the argument is, and among the primitives, what they are. */
export const ONE_BYTE = 24;
export const TWO_BYTES = 25;
export const FOUR_BYTES = 26;
export const EIGHT_BYTES = 27;
export const INDEFINITE = 31;
export const BREAK = 0xff;
export const FALSE = 20;
export const TRUE = 21;
export const NULL = 22;

export const TAG_TIME_TEXT = 0;
export const TAG_TIME_EPOCH = 1;
const TAG_BIGNUM = 2;
const TAG_NEGATIVE_BIGNUM = 3;
/** "Expected later encoding" as base64url, base64 or hexadecimal (RFC 8949, 3.4.5.2). */
export const TAG_BASE64URL = 21;
export const TAG_BASE64 = 22;
export const TAG_BASE16 = 23;
/** 55799, which encloses whatever upstream encodes: three bytes by which CBOR is known. */
export const SELF_DESCRIBED = Buffer.from([0xd9, 0xd9, 0xf7]);

export const isSelfDescribedCbor = (bytes: Buffer): boolean => bytes.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED);

/** Upstream's modes. A body has no room for more anyway, but it may claim to. */
const MAX_ARRAY_ELEMENTS = 2 ** 31 - 1;
const MAX_MAP_PAIRS = 2 ** 21;
const TOO_LONG = 2 ** 63;
/** A time that is tagged as one is read and written again, for as long as twenty values take: nobody but made-up bodies has many, since Kubernetes writes texts. */
const TIME_VALUES = 20;

export const notAccepted = (major: number, what: string): CborError =>
  new CborError(`cbor: data item of cbor type ${MAJOR_NAMES[major]} is not accepted by protocol: ${what}`);

/**
 * The head of one data item. Its argument is exact up to 2^53; beyond, `exactArgument` has it.
 */
export interface Head {
  major: number;
  info: number;
  argument: number;
  /** Where what follows the head begins. */
  end: number;
}

const ARGUMENT_BYTES: Readonly<Record<number, number>> = { [ONE_BYTE]: 1, [TWO_BYTES]: 2, [FOUR_BYTES]: 4, [EIGHT_BYTES]: 8 };

/** Throws CborError where the bytes end within it. */
export function headAt(bytes: Buffer, at: number): Head {
  if (at >= bytes.length) throw new CborError('unexpected EOF');
  const major = bytes[at]! >> 5;
  const info = bytes[at]! & 0x1f;
  const length = ARGUMENT_BYTES[info] ?? 0;
  const end = at + 1 + length;
  if (end > bytes.length) throw new CborError('unexpected EOF');
  if (length === 0) return { major, info, argument: info, end };
  return { major, info, argument: length === 8 ? Number(bytes.readBigUInt64BE(at + 1)) : bytes.readUIntBE(at + 1, length), end };
}

export const exactArgument = (bytes: Buffer, { end }: Head): bigint => bytes.readBigUInt64BE(end - 8);

/** The float of a primitive with two, four or eight bytes. */
export function floatOf(bytes: Buffer, { info, argument, end }: Head): number {
  if (info === TWO_BYTES) return halfFloat(argument);
  return info === FOUR_BYTES ? bytes.readFloatBE(end - 4) : bytes.readDoubleBE(end - 8);
}

function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * That the bytes are exactly one well-formed item, not too deep, not of too many values, and without what upstream's protocol forbids anywhere. Throws
 * CborError, or 413 for too many values. Whatever reads items afterwards need not look for their ends.
 */
export function checkWellFormed(bytes: Buffer, maxValues = MAX_VALUES): void {
  if (bytes.length === 0) throw new CborError('EOF');
  const scan = new Scan(bytes, maxValues);
  scan.item(0);
  if (scan.at < bytes.length) throw new CborError(`cbor: ${bytes.length - scan.at} bytes of extraneous data starting at index ${scan.at}`);
}

class Scan {
  at = 0;
  readonly #bytes: Buffer;
  readonly #maxValues: number;
  #valuesLeft: number;

  constructor(bytes: Buffer, maxValues: number) {
    this.#bytes = bytes;
    this.#maxValues = maxValues;
    this.#valuesLeft = maxValues;
  }

  item(depth: number): void {
    const head = this.#head();
    switch (head.major) {
      case BYTES:
      case TEXT:
        return head.info === INDEFINITE ? this.#chunks(head.major) : this.#string(head);
      case ARRAY:
      case MAP:
        return this.#container(head, enter(depth));
      case TAG:
        return this.#tagged(head.argument, depth);
      default:
    }
  }

  #head(): Head {
    const head = headAt(this.#bytes, this.at);
    const { major, info, argument, end } = head;
    if (info > EIGHT_BYTES) checkOddInfo(major, info);
    this.at = end;
    if (major !== PRIMITIVE) return head;
    if (info === ONE_BYTE && argument < 32) throw new CborError(`cbor: invalid simple value ${argument} for type ${MAJOR_NAMES[major]}`);
    if (info >= TWO_BYTES) checkFloat(floatOf(this.#bytes, head));
    return head;
  }

  #string(head: Head): void {
    if (head.argument >= TOO_LONG)
      throw new CborError(`cbor: ${MAJOR_NAMES[head.major]} length ${exactArgument(this.#bytes, head)} is too large, causing integer overflow`);
    if (head.argument > this.#bytes.length - this.at) throw new CborError('unexpected EOF');
    this.at += head.argument;
  }

  #chunks(major: number): void {
    while (!this.#isBreak()) {
      const chunk = this.#bytes[this.at]!;
      if (chunk >> 5 !== major) throw new CborError(`cbor: wrong element type ${MAJOR_NAMES[chunk >> 5]} for indefinite-length ${MAJOR_NAMES[major]}`);
      if ((chunk & 0x1f) === INDEFINITE) throw new CborError(`cbor: indefinite-length ${MAJOR_NAMES[major]} chunk is not definite-length`);
      // Each is kept by itself until the string is whole: 3 MiB of empty ones took four seconds.
      this.#countValues(1);
      this.#string(this.#head());
    }
  }

  #container(head: Head, depth: number): void {
    if (head.info !== INDEFINITE) this.#checkCount(head);
    this.#countValues(valuesOfDepth(depth));
    const perValue = head.major === MAP ? 2 : 1;
    const count = head.info === INDEFINITE ? Infinity : head.argument * perValue;
    let index = 0;
    for (; index < count; index++) {
      if (count === Infinity && this.#isBreak()) break;
      if (index % perValue === 0) this.#countValues(perValue === 2 && index / 2 >= LARGE_OBJECT_KEYS ? LARGE_OBJECT_KEY_VALUES : 1);
      this.item(depth);
    }
    if (index % perValue === 1) throw new CborError('cbor: unexpected "break" code');
  }

  #countValues(count: number): void {
    this.#valuesLeft -= count;
    if (this.#valuesLeft < 0) throw tooManyValues(this.#maxValues);
  }

  #checkCount(head: Head): void {
    const { major, argument } = head;
    if (argument >= TOO_LONG)
      throw new CborError(`cbor: ${MAJOR_NAMES[major]} length ${exactArgument(this.#bytes, head)} is too large, it would cause integer overflow`);
    if (major === ARRAY && argument > MAX_ARRAY_ELEMENTS) throw new CborError(`cbor: exceeded max number of elements ${MAX_ARRAY_ELEMENTS} for CBOR array`);
    if (major === MAP && argument > MAX_MAP_PAIRS) throw new CborError(`cbor: exceeded max number of key-value pairs ${MAX_MAP_PAIRS} for CBOR map`);
  }

  /** Tags of tags are gone through here, one level each but the first. */
  #tagged(outermost: number, outerDepth: number): void {
    let depth = outerDepth;
    for (let tag = outermost; ; tag = this.#head().argument) {
      if (this.at >= this.#bytes.length) throw new CborError('unexpected EOF');
      if (tag === TAG_BIGNUM || tag === TAG_NEGATIVE_BIGNUM) throw notAccepted(TAG, 'bignum');
      this.#countValues(tag === TAG_TIME_TEXT || tag === TAG_TIME_EPOCH ? TIME_VALUES : 1);
      if (this.#bytes[this.at]! >> 5 !== TAG) return this.item(depth);
      depth = enter(depth);
    }
  }

  /** Goes past it where it is. */
  #isBreak(): boolean {
    if (this.at >= this.#bytes.length) throw new CborError('unexpected EOF');
    if (this.#bytes[this.at] !== BREAK) return false;
    this.at++;
    return true;
  }
}

/** Upstream's bound is 10,000; see MAX_DEPTH. */
function enter(depth: number): number {
  if (depth >= MAX_DEPTH) throw new CborError(`cbor: exceeded max nested level ${MAX_DEPTH}`);
  return depth + 1;
}

function checkOddInfo(major: number, info: number): void {
  if (info === INDEFINITE && major >= BYTES && major <= MAP) return;
  if (info === INDEFINITE && major === PRIMITIVE) throw new CborError('cbor: unexpected "break" code');
  throw new CborError(`cbor: invalid additional information ${info} for type ${MAJOR_NAMES[major]}`);
}

function checkFloat(value: number): void {
  if (Number.isNaN(value)) throw notAccepted(PRIMITIVE, 'floating-point NaN');
  if (!Number.isFinite(value)) throw notAccepted(PRIMITIVE, 'floating-point infinity');
}

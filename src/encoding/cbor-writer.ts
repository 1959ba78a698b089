import {
  ARRAY,
  BYTES,
  EIGHT_BYTES,
  FOUR_BYTES,
  MAP,
  NEGATIVE,
  ONE_BYTE,
  PRIMITIVE,
  SELF_DESCRIBED,
  TAG,
  TAG_BASE64,
  TWO_BYTES,
  UNSIGNED,
} from './cbor-items.ts';

const FIRST_CAPACITY_BYTES = 1024;
const HEAD_BYTES_MAX = 9;
/** Of fewer characters: their number fits into one byte behind the head's first. */
const SHORT_TEXT = 64;
const FALSE_BYTE = 0xf4;
const TRUE_BYTE = 0xf5;
const NULL_BYTE = 0xf6;
const FLOAT16_BYTE = 0xf9;

/**
 * Writes items as upstream's deterministic mode does (serializer/cbor/internal/modes): definite lengths, shortest heads and floats, strings as byte
 * strings, bytes in tag 22. The order of map entries is the caller's: see `sortedKeys`.
 */
export class CborWriter {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY_BYTES);
  #at = 0;

  /** What was written; the writer is not to be used again. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  selfDescribed(): void {
    this.raw(SELF_DESCRIBED);
  }

  /** Items that were encoded before. */
  raw(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#at += bytes.copy(this.#buffer, this.#at);
  }

  null(): void {
    this.#byte(NULL_BYTE);
  }

  boolean(value: boolean): void {
    this.#byte(value ? TRUE_BYTE : FALSE_BYTE);
  }

  array(length: number): void {
    this.#head(ARRAY, length);
  }

  map(pairs: number): void {
    this.#head(MAP, pairs);
  }

  string(text: string): void {
    if (text.length < SHORT_TEXT && this.#shortAscii(text)) return;
    const length = Buffer.byteLength(text);
    this.#head(BYTES, length);
    this.#reserve(length);
    this.#at += this.#buffer.write(text, this.#at, length, 'utf8');
  }

  /** Most texts are short, and a call of the platform's encoder takes longer than writing them here. False where nothing was written. */
  #shortAscii(text: string): boolean {
    this.#reserve(HEAD_BYTES_MAX + SHORT_TEXT);
    const buffer = this.#buffer;
    const start = this.#at + (text.length < ONE_BYTE ? 1 : 2);
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return false;
      buffer[start + index] = code;
    }
    this.#head(BYTES, text.length);
    this.#at = start + text.length;
    return true;
  }

  /** Base64 text, as the bytes it stands for. */
  base64(text: string): void {
    const bytes = Buffer.from(text, 'base64');
    this.#head(TAG, TAG_BASE64);
    this.#head(BYTES, bytes.length);
    this.raw(bytes);
  }

  /** A whole number of JSON, that is one which can be told from a float: others beyond 2^53 are floats there. */
  number(value: number | bigint): void {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) this.float(value);
    else if (value < 0) this.#head(NEGATIVE, typeof value === 'bigint' ? -1n - value : -1 - value);
    else this.#head(UNSIGNED, value);
  }

  /** In the shortest form that has the same value. */
  float(value: number): void {
    const half = halfBits(value);
    if (half !== undefined) {
      this.#reserve(3);
      this.#buffer[this.#at] = FLOAT16_BYTE;
      this.#at = this.#buffer.writeUInt16BE(half, this.#at + 1);
    } else if (Math.fround(value) === value) {
      this.#reserve(5);
      this.#buffer[this.#at] = (PRIMITIVE << 5) | FOUR_BYTES;
      this.#at = this.#buffer.writeFloatBE(value, this.#at + 1);
    } else {
      this.#reserve(9);
      this.#buffer[this.#at] = (PRIMITIVE << 5) | EIGHT_BYTES;
      this.#at = this.#buffer.writeDoubleBE(value, this.#at + 1);
    }
  }

  #head(major: number, argument: number | bigint): void {
    this.#reserve(HEAD_BYTES_MAX);
    const buffer = this.#buffer;
    const type = major << 5;
    if (argument < ONE_BYTE) buffer[this.#at++] = type | Number(argument);
    else if (argument < 0x100) {
      buffer[this.#at++] = type | ONE_BYTE;
      buffer[this.#at++] = Number(argument);
    } else if (argument < 0x1_0000) {
      const short = Number(argument);
      buffer[this.#at++] = type | TWO_BYTES;
      buffer[this.#at++] = short >> 8;
      buffer[this.#at++] = short & 0xff;
    } else if (argument < 0x1_0000_0000) this.#at = buffer.writeUInt32BE(Number(argument), buffer.writeUInt8(type | FOUR_BYTES, this.#at));
    else this.#at = buffer.writeBigUInt64BE(BigInt(argument), buffer.writeUInt8(type | EIGHT_BYTES, this.#at));
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

/** In the order of map keys in RFC 8949's deterministic encoding, 4.2.1: by their encoded bytes, so the shorter first. */
export const sortedKeys = (keys: readonly string[]): string[] =>
  keys
    .map((key) => ({ key, length: Buffer.byteLength(key) }))
    .sort((a, b) => a.length - b.length || compareBytes(a.key, b.key, a.length))
    .map(({ key }) => key);

/** Of two texts of that many bytes. */
function compareBytes(a: string, b: string, length: number): number {
  // Where each unit is a byte, the order of the units is that of the bytes.
  if (length === a.length && length === b.length) return a < b ? -1 : a > b ? 1 : 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The bits of the value as an IEEE 754 half, where that has it exactly. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude === 0) return sign;
  // The smallest normal one is 2^-14; below it are multiples of 2^-24.
  const exponent = Math.max(Math.floor(Math.log2(magnitude)), -14);
  const fraction = magnitude / 2 ** (exponent - 10);
  if (exponent > 15 || !Number.isInteger(fraction) || fraction > 0x7ff) return undefined;
  return sign | (exponent === -14 && fraction < 0x400 ? fraction : ((exponent + 15) << 10) | (fraction - 0x400));
}

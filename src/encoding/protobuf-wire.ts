import type { SlicedWork } from '../util/time-slice.ts';
import { MAX_VALUES, tooManyValues } from './json-parser.ts';

/** Bytes that are no protobuf message, in the words of upstream's generated readers. */
export class ProtobufError extends Error {}

/** How a field's value follows its tag (protobuf's encoding): a varint, eight bytes, a length and so many bytes, four bytes. */
export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
const WIRE_START_GROUP = 3;
const WIRE_END_GROUP = 4;
const WIRE_FIXED32 = 5;

export const tagOf = (number: number, wireType: number): number => number * 8 + wireType;

/** Of fewer characters. */
const SHORT_TEXT = 64;

/**
 * Writes a message from its end to its start, so that a nested message's length is known when it is due. Callers write last fields first, and each
 * field's value before its tag.
 */
export class ProtobufWriter {
  #buffer: Buffer;
  #start: number;

  /** `capacityBytes`: about what will be written; it grows beyond that. */
  constructor(capacityBytes = 512) {
    this.#buffer = Buffer.allocUnsafe(capacityBytes);
    this.#start = capacityBytes;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#buffer.length - this.#start;
  }

  /** What was written, in a buffer of little more than its size, so that it may be kept. The writer must not be used after. */
  finish(): Buffer {
    const written = this.#buffer.subarray(this.#start);
    return this.#start * 4 > this.#buffer.length ? Buffer.from(written) : written;
  }

  #reserve(sizeBytes: number): number {
    if (this.#start < sizeBytes) {
      const written = this.size;
      const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#buffer.length + sizeBytes));
      this.#buffer.copy(grown, grown.length - written, this.#start);
      this.#buffer = grown;
      this.#start = grown.length - written;
    }
    this.#start -= sizeBytes;
    return this.#start;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    let at = this.#reserve(varintSize(value));
    while (value > 0x7f) {
      this.#buffer[at++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    this.#buffer[at] = value;
  }

  /** Two's complement of 64 bits: a negative number takes ten bytes, whatever its declared width. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return this.varint(value);
    let rest = BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Math.trunc(value)));
    const bytes: number[] = [];
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.raw(Buffer.from(bytes));
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  /** Bytes with their length before them. */
  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  string(text: string): void {
    if (text.length < SHORT_TEXT && this.#shortAscii(text)) return;
    const sizeBytes = Buffer.byteLength(text);
    const at = this.#reserve(sizeBytes);
    this.#buffer.write(text, at, sizeBytes);
    this.varint(sizeBytes);
  }

  /** Most texts are short, and a call of the platform's encoder takes longer than writing them here. False where nothing was written. */
  #shortAscii(text: string): boolean {
    const at = this.#reserve(text.length);
    const buffer = this.#buffer;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.#start += text.length;
        return false;
      }
      buffer[at + index] = code;
    }
    this.varint(text.length);
    return true;
  }

  /** The length of what was written since `size` was `before`: ends a nested message. */
  lengthSince(before: number): void {
    this.varint(this.size - before);
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let limit = 128; value >= limit; limit *= 128) size++;
  return size;
}

/** Groups may nest so deep; nothing in Kubernetes uses them. */
const MAX_GROUP_DEPTH = 100;

/** Bytes that are read before others may have their turn. A value takes two at the least. */
export const BYTES_AT_ONCE = 2_048;

/** Shared by a reader and those of the messages inside. */
interface Reading {
  /** Values that it may still come to. */
  left: number;
  /** Where it takes turns: messages that are longer than BYTES_AT_ONCE, which are read when the one around them has been. */
  later?: SlicedWork<void>[];
}

/**
 * Reads a message from the bytes between `position` and `end`, never past them. Everything wrong throws ProtobufError, with the messages of upstream's generated
 * readers do; callers put it into the context of what was being decoded.
 */
export class ProtobufReader {
  readonly #buffer: Buffer;
  #position: number;
  readonly #end: number;
  readonly #reading: Reading;

  constructor(buffer: Buffer, start = 0, end = buffer.length, reading: Reading = { left: MAX_VALUES }) {
    this.#buffer = buffer;
    this.#position = start;
    this.#end = end;
    this.#reading = reading;
  }

  /** Counts against what the whole of the bytes may hold; 413 beyond it. */
  count(values = 1): void {
    this.#reading.left -= values;
    if (this.#reading.left < 0) throw tooManyValues();
  }

  get bytesLeft(): number {
    return this.#end - this.#position;
  }

  /** Whether the message is to be read later. */
  get isForLater(): boolean {
    return this.#reading.later !== undefined && this.bytesLeft > BYTES_AT_ONCE;
  }

  readLater(work: SlicedWork<void>): void {
    this.#reading.later!.push(work);
  }

  get done(): boolean {
    return this.#position >= this.#end;
  }

  /** A varint as a number, where lengths, tags and truth values fit. */
  varint(): number {
    let value = 0;
    for (let scale = 1, count = 0; count < 10; scale *= 128, count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  /** A signed integer of 64 bits, as a number where it is safe. */
  int64(): number | bigint {
    const start = this.#position;
    const value = this.varint();
    if (this.#position - start <= 7) return value;
    const exact = BigInt.asIntN(64, this.#bigVarint(start));
    const narrow = Number(exact);
    return Number.isSafeInteger(narrow) ? narrow : exact;
  }

  /** The low 32 bits of a varint, signed. */
  int32(): number {
    const value = this.int64();
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value));
  }

  #bigVarint(start: number): bigint {
    let value = 0n;
    for (let at = start, shift = 0n; at < this.#position; at++, shift += 7n) value |= BigInt(this.#buffer[at]! & 0x7f) << shift;
    return value;
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#advance(8));
  }

  /** A view of the next field's bytes, without copying. */
  bytes(): Buffer {
    const length = this.#length();
    const start = this.#advance(length);
    return this.#buffer.subarray(start, start + length);
  }

  string(): string {
    const length = this.#length();
    const start = this.#advance(length);
    return this.#buffer.toString('utf8', start, start + length);
  }

  /** The nested message that comes next. */
  message(): ProtobufReader {
    const length = this.#length();
    const start = this.#advance(length);
    return new ProtobufReader(this.#buffer, start, start + length, this.#reading);
  }

  /** Passes over a field that no schema knows. */
  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case WIRE_VARINT:
        this.varint();
        return;
      case WIRE_FIXED64:
        this.#advance(8);
        return;
      case WIRE_BYTES:
        this.#advance(this.#length());
        return;
      case WIRE_FIXED32:
        this.#advance(4);
        return;
      case WIRE_START_GROUP:
        return this.#skipGroup(depth);
      case WIRE_END_GROUP:
        throw new ProtobufError('proto: unexpected end of group');
      default:
        throw new ProtobufError(`proto: illegal wireType ${tag & 7}`);
    }
  }

  #skipGroup(depth: number): void {
    if (depth >= MAX_GROUP_DEPTH) throw new ProtobufError('proto: groups are nested too deeply');
    for (;;) {
      const tag = this.varint();
      if ((tag & 7) === WIRE_END_GROUP) return;
      this.skip(tag, depth + 1);
    }
  }

  #length(): number {
    const length = this.varint();
    // Upstream keeps lengths in an int64: what does not fit reads as negative.
    if (length >= 2 ** 63) throw new ProtobufError('proto: negative length found during unmarshaling');
    return length;
  }

  #byte(): number {
    if (this.#position >= this.#end) throw new ProtobufError('unexpected EOF');
    return this.#buffer[this.#position++]!;
  }

  #advance(sizeBytes: number): number {
    const start = this.#position;
    if (start + sizeBytes > this.#end) throw new ProtobufError('unexpected EOF');
    this.#position = start + sizeBytes;
    return start;
  }
}

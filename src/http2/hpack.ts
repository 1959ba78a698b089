import { ErrorCode, FrameFlag, FrameType, FRAME_HEADER_BYTES, DEFAULT_FRAME_BYTES, Http2Error, headersFrames, writeFrameHeader } from './frames.ts';
import { FIELD_OVERHEAD_BYTES, type HeaderField, HeaderTable, STATIC_TABLE } from './header-table.ts';
import { decodeHuffman } from './huffman.ts';
import type { Outbox } from './outbox.ts';

/* Header compression of HTTP/2 (RFC 7541). */

/** `name, value, name, value, …` in the order in which they came. */
export type HeaderFields = readonly string[];

/** The last of a name; undefined where there is none. */
export function lastValue(fields: HeaderFields, name: string): string | undefined {
  for (let index = fields.length - 2; index >= 0; index -= 2) if (fields[index] === name) return fields[index + 1];
  return undefined;
}

/** By name, the first index of the static table that has it. */
const NAME_INDEX = new Map(STATIC_TABLE.map(([name], index) => [name, index + 1] as const).toReversed());
/** Whole fields of the table that requests and answers often have. */
const FIELD_INDEX = new Map(
  [':method', ':scheme', ':status'].map((name) => [name, new Map(STATIC_TABLE.flatMap((field, at) => (field[0] === name ? [[field[1], at + 1]] : [])))]),
);

const FIRST_WRITER_BYTES = 4096;
const MAX_KEPT_BYTES = 256 * 1024;
/** The most bytes that a length or an index takes. */
const MAX_INTEGER_BYTES = 6;
/** Up to here a loop is faster than a call into Node. */
const LOOPED_CHARACTERS = 24;

/** Puts a block together, one at a time: literals without indexing, without Huffman codes, so that it is made without thinking. */
export class BlockWriter {
  #bytes = Buffer.allocUnsafe(FIRST_WRITER_BYTES);
  #length = 0;

  /** Forgets what was added and not taken. */
  clear(): void {
    this.#length = 0;
  }

  /** Names are lower case; both are written one byte a character. */
  add(name: string, value: string): void {
    const whole = FIELD_INDEX.get(name)?.get(value);
    this.#reserve(name.length + value.length + 3 * MAX_INTEGER_BYTES);
    if (whole !== undefined) {
      this.#bytes[this.#length++] = 0x80 | whole;
      return;
    }
    const index = NAME_INDEX.get(name) ?? 0;
    this.#integer(index, 4);
    if (index === 0) this.#text(name);
    this.#text(value);
  }

  /** The block of what was added, whose memory is the caller's; the next one begins. */
  take(): Buffer {
    const block = Buffer.allocUnsafe(this.#length);
    this.#bytes.copy(block, 0, 0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_WRITER_BYTES);
    return block;
  }

  /** Sends the same, as the frames of a stream's headers. */
  moveTo(outbox: Outbox, streamId: number, endsStream: boolean): void {
    const length = this.#length;
    if (length > DEFAULT_FRAME_BYTES) return outbox.add(headersFrames(streamId, this.take(), endsStream));
    const start = outbox.reserve(FRAME_HEADER_BYTES + length);
    const at = writeFrameHeader(outbox.target, start, length, FrameType.headers, FrameFlag.endHeaders | (endsStream ? FrameFlag.endStream : 0), streamId);
    this.#bytes.copy(outbox.target, at, 0, length);
    this.#length = 0;
  }

  #reserve(sizeBytes: number): void {
    if (this.#length + sizeBytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + sizeBytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  /** The bits before the prefix are 0. */
  #integer(value: number, prefixBits: number): void {
    const bytes = this.#bytes;
    const limit = (1 << prefixBits) - 1;
    if (value < limit) {
      bytes[this.#length++] = value;
      return;
    }
    bytes[this.#length++] = limit;
    let rest = value - limit;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[this.#length++] = (rest % 128) | 0x80;
    bytes[this.#length++] = rest;
  }

  #text(text: string): void {
    this.#integer(text.length, 7);
    const bytes = this.#bytes;
    if (text.length > LOOPED_CHARACTERS) {
      this.#length += bytes.write(text, this.#length, 'latin1');
      return;
    }
    let at = this.#length;
    for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index);
    this.#length = at;
  }
}

export function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const writer = new BlockWriter();
  for (const [name, value] of Object.entries(headers)) writer.add(name, value);
  return writer.take();
}

/** A block that says first that nothing is remembered of those sent (RFC 7541 §6.3), which is so for all that a BlockWriter makes. */
export const withoutTable = (block: Buffer): Buffer => Buffer.concat([NO_TABLE, block]);
const NO_TABLE = Buffer.from([0x20]);

export interface HeaderLimits {
  /** Of what came before, so much may be remembered for blocks to come. */
  tableBytes: number;
  /** What a list of fields may come to, counted as SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2). */
  listBytes: number;
  fieldCount: number;
}

const MAX_REMEMBERED = 64;
const MAX_REMEMBERED_BYTES = 256;

/** Reads blocks, in the order in which they came: what one says may depend on those before it. */
export class HeaderReader {
  readonly #limits: HeaderLimits;
  readonly #table: HeaderTable;
  /**
   * Blocks that neither ask the table nor change it stand for themselves, and one seen before need not be read again: answers of one server, and calls of one gRPC
   * client of ours, mostly carry the same few.
   */
  #remembered: Map<string, HeaderFields> | undefined;
  /** The block that was read last stands for itself. */
  #isPlain = false;
  /** The block that was read last says more than is allowed; what was too much is left out. */
  isTooLarge = false;
  /** Of that block, as SETTINGS_MAX_HEADER_LIST_SIZE counts. */
  #listBytes = 0;

  constructor(limits: HeaderLimits) {
    this.#limits = limits;
    this.#table = new HeaderTable(limits.tableBytes);
  }

  /** Throws where the block is not one. */
  read(block: Buffer): HeaderFields {
    if (block.length > MAX_REMEMBERED_BYTES) return this.#decode(block);
    const name = this.#remembered && block.toString('latin1');
    const known = name === undefined ? undefined : this.#remembered!.get(name);
    if (known) {
      this.isTooLarge = false;
      return known;
    }
    const fields = this.#decode(block);
    if (!this.#isPlain || this.isTooLarge) return fields;
    if (!this.#remembered || this.#remembered.size >= MAX_REMEMBERED) this.#remembered = new Map();
    this.#remembered.set(name ?? block.toString('latin1'), fields);
    return fields;
  }

  #decode(block: Buffer): HeaderFields {
    const fields: string[] = [];
    const cursor = { block, position: 0 };
    this.#listBytes = 0;
    this.isTooLarge = false;
    this.#isPlain = true;
    while (cursor.position < block.length) {
      const first = block[cursor.position]!;
      if (first & 0x80) {
        const [name, value] = this.#fieldAt(readInteger(cursor, 7));
        this.#keep(fields, name, value);
      } else if ((first & 0xe0) === 0x20) {
        if (fields.length > 0) throw new Http2Error('the size of a table behind a header', ErrorCode.compressionError);
        this.#isPlain = false;
        this.#table.resize(readInteger(cursor, 5));
      } else this.#readLiteral(cursor, first, fields);
    }
    return fields;
  }

  #readLiteral(cursor: Cursor, first: number, fields: string[]): void {
    const isRemembered = (first & 0x40) !== 0;
    const index = readInteger(cursor, isRemembered ? 6 : 4);
    const name = index === 0 ? readString(cursor) : this.#fieldAt(index)[0];
    const value = readString(cursor);
    if (isRemembered) {
      this.#isPlain = false;
      this.#table.add([name, value]);
    }
    this.#keep(fields, name, value);
  }

  #fieldAt(index: number): HeaderField {
    if (index > STATIC_TABLE.length) this.#isPlain = false;
    return this.#table.get(index);
  }

  #keep(fields: string[], name: string, value: string): void {
    this.#listBytes += name.length + value.length + FIELD_OVERHEAD_BYTES;
    if (this.#listBytes > this.#limits.listBytes || fields.length >= 2 * this.#limits.fieldCount) this.isTooLarge = true;
    else fields.push(name, value);
  }
}

interface Cursor {
  readonly block: Buffer;
  position: number;
}

const broken = (message: string): Http2Error => new Http2Error(message, ErrorCode.compressionError);

/** Lengths and indices, of which no block has any beyond its own size. */
function readInteger(cursor: Cursor, prefixBits: number): number {
  const limit = (1 << prefixBits) - 1;
  let value = nextByte(cursor) & limit;
  if (value < limit) return value;
  for (let scale = 1; scale <= 128 ** 3; scale *= 128) {
    const byte = nextByte(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  throw broken('a number in a header block is too large');
}

function nextByte(cursor: Cursor): number {
  const byte = cursor.block[cursor.position++];
  if (byte === undefined) throw broken('a header block ends too early');
  return byte;
}

function readString(cursor: Cursor): string {
  const isHuffman = (cursor.block[cursor.position]! & 0x80) !== 0;
  const length = readInteger(cursor, 7);
  const end = cursor.position + length;
  if (end > cursor.block.length) throw broken('a header block ends too early');
  const start = cursor.position;
  cursor.position = end;
  return isHuffman ? decodeHuffman(cursor.block.subarray(start, end)) : cursor.block.toString('latin1', start, end);
}

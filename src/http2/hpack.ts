import { decodeHuffman } from './huffman.ts';

/**
 * Header compression of HTTP/2 (RFC 7541). The connection allows its peer no dynamic table, so every block stands for itself: nothing has to be
 * remembered from one to the next, and a block seen before need not be read again.
 */

/** Appendix A, from index 1 on. */
const STATIC_TABLE: readonly (readonly [name: string, value: string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ...[
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'accept-ranges',
    'accept',
    'access-control-allow-origin',
    'age',
    'allow',
    'authorization',
    'cache-control',
    'content-disposition',
    'content-encoding',
    'content-language',
    'content-length',
    'content-location',
    'content-range',
    'content-type',
    'cookie',
    'date',
    'etag',
    'expect',
    'expires',
    'from',
    'host',
    'if-match',
    'if-modified-since',
    'if-none-match',
    'if-range',
    'if-unmodified-since',
    'last-modified',
    'link',
    'location',
    'max-forwards',
    'proxy-authenticate',
    'proxy-authorization',
    'range',
    'referer',
    'refresh',
    'retry-after',
    'server',
    'set-cookie',
    'strict-transport-security',
    'transfer-encoding',
    'user-agent',
    'vary',
    'via',
    'www-authenticate',
  ].map((name) => [name, name === 'accept-encoding' ? 'gzip, deflate' : ''] as const),
];

/** `name, value, name, value, …` in the order in which they came. */
export type Fields = readonly string[];

/** The last of a name; undefined where there is none. */
export function lastValue(fields: Fields, name: string): string | undefined {
  for (let index = fields.length - 2; index >= 0; index -= 2) if (fields[index] === name) return fields[index + 1];
  return undefined;
}

/** What a list of fields may come to, counted as SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2). */
export const MAX_LIST_BYTES = 256 * 1024;
const FIELD_OVERHEAD_BYTES = 32;

/** By name, the first index of the static table that has it. */
const NAME_INDEX = new Map(STATIC_TABLE.map(([name], index) => [name, index + 1] as const).toReversed());
/** Whole fields of the table that requests often have. */
const FIELD_INDEX = new Map([
  [
    ':method',
    new Map([
      ['GET', 2],
      ['POST', 3],
    ]),
  ],
  [
    ':scheme',
    new Map([
      ['http', 6],
      ['https', 7],
    ]),
  ],
]);

const FIRST_WRITER_BYTES = 4096;
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
    if (this.#bytes.length > MAX_LIST_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_WRITER_BYTES);
    return block;
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
    const limit = 2 ** prefixBits - 1;
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

const MAX_REMEMBERED = 64;
const MAX_REMEMBERED_BYTES = 256;

/** Reads blocks; answers of one server mostly carry the same few. */
export class HeaderReader {
  readonly #remembered = new Map<string, Fields>();

  /** Throws where the block is not one, or says too much. */
  read(block: Buffer): Fields {
    if (block.length > MAX_REMEMBERED_BYTES) return decodeFields(block);
    const name = block.toString('latin1');
    const known = this.#remembered.get(name);
    if (known) return known;
    const fields = decodeFields(block);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(name, fields);
    return fields;
  }
}

function decodeFields(block: Buffer): Fields {
  const fields: string[] = [];
  const cursor = { block, position: 0 };
  let sizeBytes = 0;
  while (cursor.position < block.length) {
    const first = block[cursor.position]!;
    if ((first & 0xe0) === 0x20) {
      // The size of a table that there is not.
      if (readInteger(cursor, 5) !== 0) throw new Error('a table of headers that was forbidden');
      continue;
    }
    const [name, value] = first & 0x80 ? staticEntry(readInteger(cursor, 7)) : readLiteral(cursor, first & 0x40 ? 6 : 4);
    sizeBytes += name.length + value.length + FIELD_OVERHEAD_BYTES;
    if (sizeBytes > MAX_LIST_BYTES) throw new Error('headers are too large');
    fields.push(name, value);
  }
  return fields;
}

function readLiteral(cursor: Cursor, prefixBits: number): readonly [name: string, value: string] {
  const index = readInteger(cursor, prefixBits);
  const name = index === 0 ? readString(cursor) : staticEntry(index)[0];
  return [name, readString(cursor)];
}

interface Cursor {
  readonly block: Buffer;
  position: number;
}

function staticEntry(index: number): readonly [name: string, value: string] {
  const entry = STATIC_TABLE[index - 1];
  if (!entry) throw new Error(`header ${index} of a table that there is not`);
  return entry;
}

/** Lengths and indices, of which no block has any beyond its own size. */
function readInteger(cursor: Cursor, prefixBits: number): number {
  const limit = 2 ** prefixBits - 1;
  let value = nextByte(cursor) & limit;
  if (value < limit) return value;
  for (let scale = 1; scale <= 128 ** 3; scale *= 128) {
    const byte = nextByte(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  throw new Error('a number in a header block is too large');
}

function nextByte(cursor: Cursor): number {
  const byte = cursor.block[cursor.position++];
  if (byte === undefined) throw new Error('a header block ends too early');
  return byte;
}

function readString(cursor: Cursor): string {
  const isHuffman = (cursor.block[cursor.position]! & 0x80) !== 0;
  const length = readInteger(cursor, 7);
  const end = cursor.position + length;
  if (end > cursor.block.length) throw new Error('a header block ends too early');
  const bytes = cursor.block.subarray(cursor.position, end);
  cursor.position = end;
  return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1');
}

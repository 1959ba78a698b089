/**
 * Header compression of HTTP/2 (RFC 7541), as far as a gRPC client needs it. The connection allows its peer no dynamic table, so every block stands
 * for itself: nothing has to be remembered from one to the next, and a block seen before need not be read again.
 */

/** Appendix A, from index 1 on; values only where there are any. */
const STATIC_TABLE: readonly (readonly [name: string, value?: string])[] = [
  [':authority'],
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

export type Headers = Readonly<Record<string, string>>;

/** Literals without indexing, names and values as they are: a little longer than need be, and made without thinking. */
export function encodeHeaders(headers: Headers): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(headers)) parts.push(Buffer.from([0]), encodeString(name), encodeString(value));
  return Buffer.concat(parts);
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([encodeInteger(bytes.length, 7), bytes]);
}

function encodeInteger(value: number, prefixBits: number): Buffer {
  const limit = 2 ** prefixBits - 1;
  if (value < limit) return Buffer.from([value]);
  const bytes = [limit];
  let rest = value - limit;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const MAX_REMEMBERED = 64;
const MAX_REMEMBERED_BYTES = 256;

/** Reads blocks; answers of one server mostly carry the same few. */
export class HeaderReader {
  readonly #remembered = new Map<string, Headers>();

  /** Throws where the block is not one. */
  read(block: Buffer): Headers {
    if (block.length > MAX_REMEMBERED_BYTES) return decodeHeaders(block);
    const name = block.toString('latin1');
    const known = this.#remembered.get(name);
    if (known) return known;
    const headers = decodeHeaders(block);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(name, headers);
    return headers;
  }
}

/** Of fields that come twice the last counts: gRPC's own come once. */
function decodeHeaders(block: Buffer): Headers {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  const cursor = { block, position: 0 };
  while (cursor.position < block.length) {
    const first = block[cursor.position]!;
    if (first & 0x80) {
      const [name, value = ''] = staticEntry(readInteger(cursor, 7));
      headers[name] = value;
    } else if ((first & 0xe0) === 0x20) {
      // The size of a table that there is not.
      readInteger(cursor, 5);
    } else {
      const index = readInteger(cursor, first & 0x40 ? 6 : 4);
      const name = index === 0 ? readString(cursor) : staticEntry(index)[0];
      headers[name] = readString(cursor);
    }
  }
  return headers;
}

interface Cursor {
  readonly block: Buffer;
  position: number;
}

function staticEntry(index: number): readonly [name: string, value?: string] {
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

/** Appendix B: how many bits each byte's code has, in base 36. The code is canonical, so the lengths say all. */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';
const MAX_CODE_BITS = 30;

/** By length: the first code of it, and its bytes in the order of their codes. */
const CODES = canonicalCodes();

function canonicalCodes(): { first: number; bytes: number[] }[] {
  const byLength = Array.from({ length: MAX_CODE_BITS + 1 }, () => ({ first: 0, bytes: [] as number[] }));
  for (let byte = 0; byte < 256; byte++) byLength[Number.parseInt(CODE_LENGTHS[byte]!, 36)]!.bytes.push(byte);
  let code = 0;
  for (const entry of byLength) {
    code *= 2;
    entry.first = code;
    code += entry.bytes.length;
  }
  return byLength;
}

function decodeHuffman(encoded: Buffer): string {
  const decoded: number[] = [];
  let code = 0;
  let bits = 0;
  for (const byte of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      if (++bits > MAX_CODE_BITS) throw new Error('a header has no meaning');
      const { first, bytes } = CODES[bits]!;
      const found = bytes[code - first];
      if (found === undefined) continue;
      decoded.push(found);
      code = 0;
      bits = 0;
    }
  }
  return Buffer.from(decoded).toString('latin1');
}

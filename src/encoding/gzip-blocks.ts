import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** Of text that repeats itself, level 3 makes a fortieth in less time than level 1 takes. */
const DEFLATE = { level: 3, finishFlush: constants.Z_SYNC_FLUSH };

/** Bytes that are kept compressed, to be sent again within any gzip stream. They refer to nothing before them, and end at a whole byte. */
export class DeflatedBlock {
  readonly deflated: Buffer;
  readonly length: number;
  readonly #crc: number;
  /** x to the power of the number of bits: what the checksum of all before it is multiplied by. */
  readonly #shift: number;

  constructor(bytes: Buffer) {
    this.deflated = deflateRawSync(bytes, DEFLATE);
    this.length = bytes.length;
    this.#crc = crc32(bytes);
    this.#shift = powerOfX(bytes.length * 8);
  }

  inflate(): Buffer {
    return inflateRawSync(this.deflated, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: Math.max(this.length, constants.Z_MIN_CHUNK) });
  }

  /** The checksum of this behind something that has the checksum `crc`, without looking at either again (zlib's crc32_combine). */
  crcBehind(crc: number): number {
    return (multiply(this.#shift, crc) ^ this.#crc) >>> 0;
  }
}

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const EMPTY_FINAL_BLOCK = Buffer.from([3, 0]);

/** One gzip stream (RFC 1952) of one member: curl reads no more than the first. */
export async function* gzipStream(parts: AsyncIterable<Buffer | DeflatedBlock>): AsyncGenerator<Buffer> {
  let crc = 0;
  let length = 0;
  yield HEADER;
  for await (const part of parts) {
    const block = Buffer.isBuffer(part) ? new DeflatedBlock(part) : part;
    crc = block.crcBehind(crc);
    length += block.length;
    yield block.deflated;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  yield Buffer.concat([EMPTY_FINAL_BLOCK, trailer]);
}

/* Polynomials over GF(2) modulo that of CRC-32, bits reversed: the highest bit is the coefficient of x^0. */
const CRC32_POLYNOMIAL = 0xedb88320;
const ONE = 1 << 31;

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >>> 1) ^ CRC32_POLYNOMIAL : b >>> 1;
  }
  return product;
}

function powerOfX(exponent: number): number {
  let power = ONE;
  let square = ONE >>> 1;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(square, power);
    square = multiply(square, square);
  }
  return power;
}

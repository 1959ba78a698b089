import { ErrorCode, Http2Error } from './frames.ts';

/* The Huffman code of header strings (RFC 7541 §5.2 and Appendix B). */

/** How many bits each byte's code has, in base 36. The code is canonical, so the lengths say all. */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';
const MIN_CODE_BITS = 5;
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

/** By the next eight bits: the byte whose code they begin with, and in the higher byte how many of them that is; 0 where it takes more. */
const SHORT_CODES = shortCodes();

function shortCodes(): Uint16Array {
  const table = new Uint16Array(256);
  for (let length = 1; length <= 8; length++) {
    const { first, bytes } = CODES[length]!;
    bytes.forEach((byte, index) => table.fill((length << 8) | byte, (first + index) << (8 - length), (first + index + 1) << (8 - length)));
  }
  return table;
}

/** What most strings are decoded in. */
const scratch = Buffer.allocUnsafeSlow(4096);

/** Throws where the bits are no code, or do not end as they must. One character a byte. */
export function decodeHuffman(encoded: Buffer): string {
  const totalBits = encoded.length * 8;
  const maxBytes = Math.floor(totalBits / MIN_CODE_BITS);
  const decoded = maxBytes <= scratch.length ? scratch : Buffer.allocUnsafe(maxBytes);
  let length = 0;
  let at = 0;
  while (at < totalBits) {
    const index = at >> 3;
    const next = (((encoded[index]! << 8) | (encoded[index + 1] ?? 0xff)) >> (8 - (at & 7))) & 0xff;
    const found = SHORT_CODES[next] || longCode(encoded, at);
    if (found === 0 || at + (found >> 8) > totalBits) {
      // Less than a byte of ones fills the last one up.
      if (totalBits - at < 8 && next === 0xff) break;
      throw new Http2Error('a header has no meaning', ErrorCode.compressionError);
    }
    decoded[length++] = found & 0xff;
    at += found >> 8;
  }
  return decoded.toString('latin1', 0, length);
}

/** As the entries of SHORT_CODES are; 0 where there is none, or the bits end first. */
function longCode(encoded: Buffer, at: number): number {
  const endBits = Math.min(encoded.length * 8, at + MAX_CODE_BITS);
  let code = 0;
  for (let bit = at; bit < endBits; bit++) {
    code = code * 2 + ((encoded[bit >> 3]! >> (7 - (bit & 7))) & 1);
    const { first, bytes } = CODES[bit - at + 1]!;
    const found = bytes[code - first];
    if (found !== undefined) return ((bit - at + 1) << 8) | found;
  }
  return 0;
}

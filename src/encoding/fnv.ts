/** A number of 64 bits in two halves: numbers of that size are slow as a bigint. */
export interface Wide {
  high: number;
  low: number;
}

const OFFSET: Wide = { high: 0xcbf29ce4, low: 0x84222325 };
/** The prime is 2^40 and this. */
const PRIME_LOW = 0x1b3;
const TWO_32 = 2 ** 32;

/** FNV-1a of 64 bits (RFC 9923). */
export const fnv1a = (bytes: Uint8Array): Wide => hash(bytes, true);

/** FNV-1, the older form: a byte comes in after the multiplication. */
export const fnv1 = (bytes: Uint8Array): Wide => hash(bytes, false);

function hash(bytes: Uint8Array, isByteFirst: boolean): Wide {
  let { high, low } = OFFSET;
  for (const byte of bytes) {
    if (isByteFirst) low = (low ^ byte) >>> 0;
    const product = low * PRIME_LOW;
    high = (high * PRIME_LOW + ((low << 8) >>> 0) + Math.floor(product / TWO_32)) % TWO_32;
    low = product % TWO_32;
    if (!isByteFirst) low = (low ^ byte) >>> 0;
  }
  return { high, low };
}

/* Poly1305 (RFC 8439, 2.5), which node:crypto has only together with ChaCha20. In limbs of 13 bits, so that products of them sum up within 53 bits. */

const LIMBS = 10;
const LIMB_BITS = 13;
const LIMB_MASK = (1 << LIMB_BITS) - 1;
const BLOCK_BYTES = 16;
/** The bits of r that the standard clears. */
const CLAMP = [0xff, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f, 0xfc, 0xff, 0xff, 0x0f] as const;

export const POLY1305_TAG_BYTES = 16;

/** The tag of `message` under a one-time key of 32 bytes. */
export function poly1305(key: Uint8Array, message: Uint8Array): Buffer {
  const r = new Float64Array(LIMBS);
  addLimbs(
    r,
    Uint8Array.from(CLAMP, (mask, i) => mask & key[i]!),
    0,
    BLOCK_BYTES,
  );
  const h = new Float64Array(LIMBS);
  const product = new Float64Array(LIMBS);
  let at = 0;
  for (; at + BLOCK_BYTES <= message.length; at += BLOCK_BYTES) {
    addLimbs(h, message, at, BLOCK_BYTES);
    h[LIMBS - 1]! += AFTER_BLOCK;
    multiply(h, r, product);
  }
  if (at < message.length) {
    const last = new Uint8Array(BLOCK_BYTES);
    last.set(message.subarray(at));
    last[message.length - at] = 1;
    addLimbs(h, last, 0, BLOCK_BYTES);
    multiply(h, r, product);
  }
  return tagOf(reduced(h), key.subarray(16, 32));
}

/** The bit behind a whole block's 128, in its limb. */
const AFTER_BLOCK = 1 << (128 - (LIMBS - 1) * LIMB_BITS);

/** Adds the little-endian bytes from `at`, as limbs. */
function addLimbs(limbs: Float64Array, bytes: Uint8Array, at: number, sizeBytes: number): void {
  const end = at + sizeBytes;
  for (let limb = 0, bit = 0; limb < LIMBS; limb++, bit += LIMB_BITS) {
    const first = at + (bit >> 3);
    const second = first + 1 < end ? bytes[first + 1]! : 0;
    const third = first + 2 < end ? bytes[first + 2]! : 0;
    limbs[limb]! += ((bytes[first]! | (second << 8) | (third << 16)) >> (bit & 7)) & LIMB_MASK;
  }
}

/** h = h * r mod 2^130 - 5, left a little larger than the modulus. `product` is room to work in. */
function multiply(h: Float64Array, r: Float64Array, product: Float64Array): void {
  for (let i = 0; i < LIMBS; i++) {
    let sum = 0;
    for (let j = 0; j <= i; j++) sum += h[j]! * r[i - j]!;
    // 2^130 is 5: what is carried beyond the last limb comes back at the first, five times.
    let beyond = 0;
    for (let j = i + 1; j < LIMBS; j++) beyond += h[j]! * r[i - j + LIMBS]!;
    product[i] = sum + 5 * beyond;
  }
  carry(product);
  h.set(product);
}

function carry(limbs: Float64Array): void {
  let over = 0;
  for (let i = 0; i < LIMBS; i++) {
    const value = limbs[i]! + over;
    over = Math.floor(value / (LIMB_MASK + 1));
    limbs[i] = value - over * (LIMB_MASK + 1);
  }
  limbs[0]! += over * 5;
  over = Math.floor(limbs[0]! / (LIMB_MASK + 1));
  limbs[0]! -= over * (LIMB_MASK + 1);
  limbs[1]! += over;
}

/** The one value below the modulus, chosen without a branch on the data. */
function reduced(h: Float64Array): Float64Array {
  carry(h);
  carry(h);
  const less = new Float64Array(LIMBS);
  let over = 5;
  for (let i = 0; i < LIMBS; i++) {
    const value = h[i]! + over;
    over = Math.floor(value / (LIMB_MASK + 1));
    less[i] = value - over * (LIMB_MASK + 1);
  }
  // h + 5 reached 2^130 where h was not below the modulus: then `over` is 1, and what is left is h - modulus.
  for (let i = 0; i < LIMBS; i++) less[i] = over * less[i]! + (1 - over) * h[i]!;
  return less;
}

/** (h + s) mod 2^128, in bytes. */
function tagOf(h: Float64Array, s: Uint8Array): Buffer {
  const tag = Buffer.alloc(POLY1305_TAG_BYTES);
  let over = 0;
  for (let i = 0; i < POLY1305_TAG_BYTES; i++) {
    const sum = byteAt(h, i * 8) + s[i]! + over;
    tag[i] = sum & 0xff;
    over = sum >> 8;
  }
  return tag;
}

function byteAt(limbs: Float64Array, bit: number): number {
  const limb = Math.floor(bit / LIMB_BITS);
  const two = limbs[limb]! + (limbs[limb + 1] ?? 0) * (LIMB_MASK + 1);
  return (two >> (bit % LIMB_BITS)) & 0xff;
}

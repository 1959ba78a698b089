import { randomBytes, timingSafeEqual } from 'node:crypto';
import { POLY1305_TAG_BYTES, poly1305 } from './poly1305.ts';
import { xsalsa20Stream } from './salsa20.ts';
import type { Transformer } from './transformer.ts';

export const SECRETBOX_KEY_BYTES = 32;
const NONCE_BYTES = 24;
/** The start of the stream is the one-time key of the tag. */
const TAG_KEY_BYTES = 32;

/** NaCl's secretbox: XSalsa20 and Poly1305, the tag first. */
export function sealBox(key: Uint8Array, nonce: Uint8Array, data: Uint8Array): Buffer {
  const stream = xsalsa20Stream(key, nonce, TAG_KEY_BYTES + data.length);
  const box = Buffer.allocUnsafe(POLY1305_TAG_BYTES + data.length);
  for (let i = 0; i < data.length; i++) box[POLY1305_TAG_BYTES + i] = data[i]! ^ stream[TAG_KEY_BYTES + i]!;
  poly1305(stream.subarray(0, TAG_KEY_BYTES), box.subarray(POLY1305_TAG_BYTES)).copy(box);
  return box;
}

/** Undefined where the box was not sealed with this key and nonce. */
export function openBox(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Buffer | undefined {
  const encrypted = box.subarray(POLY1305_TAG_BYTES);
  const stream = xsalsa20Stream(key, nonce, TAG_KEY_BYTES + encrypted.length);
  const tag = poly1305(stream.subarray(0, TAG_KEY_BYTES), encrypted);
  if (!timingSafeEqual(tag, box.subarray(0, POLY1305_TAG_BYTES))) return undefined;
  const data = Buffer.allocUnsafe(encrypted.length);
  for (let i = 0; i < data.length; i++) data[i] = encrypted[i]! ^ stream[TAG_KEY_BYTES + i]!;
  return data;
}

/** As upstream's (…/encrypt/secretbox): a random nonce before the box. The key's name is not authenticated. */
export function secretboxTransformer(key: Buffer): Transformer {
  return {
    fromStorage(data) {
      if (data.length < NONCE_BYTES + POLY1305_TAG_BYTES) throw new Error('the stored data was shorter than the required size');
      const value = openBox(key, data.subarray(0, NONCE_BYTES), data.subarray(NONCE_BYTES));
      // Upstream's words, which speak of something else.
      if (value === undefined) throw new Error('output array was not large enough for encryption');
      return { value, isStale: false };
    },
    toStorage(data) {
      const nonce = randomBytes(NONCE_BYTES);
      return Buffer.concat([nonce, sealBox(key, nonce, data)]);
    },
  };
}

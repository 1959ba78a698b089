import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { ImmediateTransformer, ValueContext } from './transformer.ts';

/* AES as upstream uses it (apiserver/pkg/storage/value/encrypt/aes). */

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BLOCK_BYTES = 16;
const TOO_SHORT = 'the stored data was shorter than the required size';

/** With a random nonce before, and the key's name authenticated. A key must not be used for more than 2^32 writes (NIST SP 800-38D). */
export function gcmTransformer(key: Buffer): ImmediateTransformer {
  return {
    fromStorage: (data, context) => ({ value: openGcm(key, data, context), isStale: false }),
    toStorage: (data, context) => sealGcm(key, data, context),
  };
}

const gcmOf = (key: Buffer) => `aes-${(key.length * 8) as 128 | 192 | 256}-gcm` as const;

function sealGcm(key: Buffer, data: Buffer, { key: name }: ValueContext): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(gcmOf(key), key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(name));
  const encrypted = cipher.update(data);
  return Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()]);
}

function openGcm(key: Buffer, data: Buffer, { key: name }: ValueContext): Buffer {
  if (data.length < NONCE_BYTES) throw new Error(TOO_SHORT);
  const tagStart = data.length - TAG_BYTES;
  if (tagStart < NONCE_BYTES) throw new Error('cipher: message authentication failed');
  const decipher = createDecipheriv(gcmOf(key), key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(data.subarray(tagStart));
  const decrypted = decipher.update(data.subarray(NONCE_BYTES, tagStart));
  try {
    decipher.final();
  } catch {
    throw new Error('cipher: message authentication failed');
  }
  return decrypted;
}

/** With a random initialization vector before, and PKCS#7 padding. Not authenticated: upstream advises against it. */
export function cbcTransformer(key: Buffer): ImmediateTransformer {
  const algorithm = `aes-${key.length * 8}-cbc`;
  return {
    fromStorage(data) {
      if (data.length < BLOCK_BYTES) throw new Error(TOO_SHORT);
      if (data.length % BLOCK_BYTES !== 0) throw new Error('the stored data is not a multiple of the block size');
      const decipher = createDecipheriv(algorithm, key, data.subarray(0, BLOCK_BYTES)).setAutoPadding(false);
      const padded = Buffer.concat([decipher.update(data.subarray(BLOCK_BYTES)), decipher.final()]);
      return { value: unpadded(padded), isStale: false };
    },
    toStorage(data) {
      const iv = randomBytes(BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, key, iv);
      return Buffer.concat([iv, cipher.update(data), cipher.final()]);
    },
  };
}

function unpadded(padded: Buffer): Buffer {
  const padding = padded.at(-1) ?? 0;
  if (padding === 0 || padding > padded.length) throw new Error('invalid PKCS7 data (empty or not padded)');
  const end = padded.length - padding;
  if (padded.subarray(end).some((byte) => byte !== padding)) throw new Error('invalid padding on input');
  return padded.subarray(0, end);
}

export const SEED_BYTES = 32;
const INFO_BYTES = 32;

/**
 * AES-GCM with a key of its own for every write, made from the seed and 32 random bytes that stand before the rest (KEP-3299): the nonce of GCM, too
 * short for many random ones, is then no limit.
 */
export function extendedNonceTransformer(seed: Buffer): ImmediateTransformer {
  if (seed.length < SEED_BYTES) throw new Error(`invalid seed length ${seed.length} used for key generation`);
  return {
    fromStorage(data, context) {
      if (data.length < INFO_BYTES) throw new Error(TOO_SHORT);
      const key = derivedKey(seed, data.subarray(0, INFO_BYTES));
      return { value: openGcm(key, data.subarray(INFO_BYTES), context), isStale: false };
    },
    toStorage(data, context) {
      const info = randomBytes(INFO_BYTES);
      return Buffer.concat([info, sealGcm(derivedKey(seed, info), data, context)]);
    },
  };
}

const FIRST_BLOCK = Buffer.from([1]);

/** HKDF's expansion (RFC 5869, 2.3) without its extraction: one block of SHA-256 is as long as the key. */
const derivedKey = (seed: Buffer, info: Buffer): Buffer => createHmac('sha256', seed).update(info).update(FIRST_BLOCK).digest();

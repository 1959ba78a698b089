import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { ImmediateTransformer } from './transformer.ts';

export const SECRETBOX_KEY_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;

/** NaCl's secretbox, with a random nonce before it. The key's name is not authenticated. kubernetes: staging/src/k8s.io/apiserver/pkg/storage/value/encrypt/secretbox */
export function secretboxTransformer(key: Buffer): ImmediateTransformer {
  return {
    fromStorage(data) {
      if (data.length < NONCE_BYTES + TAG_BYTES) throw new Error('the stored data was shorter than the required size');
      return { value: openBox(key, data.subarray(0, NONCE_BYTES), data.subarray(NONCE_BYTES)), isStale: false };
    },
    toStorage(data) {
      const nonce = randomBytes(NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(data)]);
    },
  };
}

function openBox(key: Buffer, nonce: Buffer, box: Buffer): Buffer {
  let value: Uint8Array;
  try {
    value = xsalsa20poly1305(key, nonce).decrypt(box);
  } catch (error) {
    // Upstream's message, although it describes another failure: the box was not sealed with this key.
    throw new Error('output array was not large enough for encryption', { cause: error });
  }
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

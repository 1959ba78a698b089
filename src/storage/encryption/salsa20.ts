/* Salsa20 and its extension to nonces of 24 bytes (D. J. Bernstein, "Extending the Salsa20 nonce"), which node:crypto does not have. */

/** "expand 32-byte k" */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const BLOCK_BYTES = 64;
const DOUBLE_ROUNDS = 10;

/** The words of the state where the input of a block, a nonce or a counter, stands. */
const INPUT = [6, 7, 8, 9] as const;
/** What HSalsa20 gives: the words that an attacker knows the input of. */
const DERIVED = [0, 5, 10, 15, 6, 7, 8, 9] as const;

function initialState(key: Uint8Array): Uint32Array {
  const state = new Uint32Array(16);
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  for (let i = 0; i < 4; i++) {
    state[i * 5] = SIGMA[i]!;
    state[1 + i] = view.getUint32(i * 4, true);
    state[11 + i] = view.getUint32(16 + i * 4, true);
  }
  return state;
}

/** x[target] ^= rotl(x[a] + x[b], bits) */
function mix(x: Uint32Array, target: number, a: number, b: number, bits: number): void {
  const sum = (x[a]! + x[b]!) | 0;
  x[target]! ^= (sum << bits) | (sum >>> (32 - bits));
}

function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  mix(x, b, a, d, 7);
  mix(x, c, b, a, 9);
  mix(x, d, c, b, 13);
  mix(x, a, d, c, 18);
}

function rounds(x: Uint32Array): void {
  for (let i = 0; i < DOUBLE_ROUNDS; i++) {
    quarterRound(x, 0, 4, 8, 12);
    quarterRound(x, 5, 9, 13, 1);
    quarterRound(x, 10, 14, 2, 6);
    quarterRound(x, 15, 3, 7, 11);
    quarterRound(x, 0, 1, 2, 3);
    quarterRound(x, 5, 6, 7, 4);
    quarterRound(x, 10, 11, 8, 9);
    quarterRound(x, 15, 12, 13, 14);
  }
}

/** A key for Salsa20 from a key and the first 16 bytes of a long nonce. */
export function hsalsa20(key: Uint8Array, nonce: Uint8Array): Uint8Array {
  const state = initialState(key);
  const input = new DataView(nonce.buffer, nonce.byteOffset, nonce.byteLength);
  for (const [i, word] of INPUT.entries()) state[word] = input.getUint32(i * 4, true);
  rounds(state);
  const derived = new DataView(new ArrayBuffer(32));
  for (const [i, word] of DERIVED.entries()) derived.setUint32(i * 4, state[word]!, true);
  return new Uint8Array(derived.buffer);
}

/** `sizeBytes` of the stream of XSalsa20 from its start; `key` of 32 bytes, `nonce` of 24. */
export function xsalsa20Stream(key: Uint8Array, nonce: Uint8Array, sizeBytes: number): Buffer {
  const state = initialState(hsalsa20(key, nonce.subarray(0, 16)));
  const rest = new DataView(nonce.buffer, nonce.byteOffset + 16, 8);
  state[6] = rest.getUint32(0, true);
  state[7] = rest.getUint32(4, true);
  const blocks = Math.ceil(sizeBytes / BLOCK_BYTES);
  const stream = new DataView(new ArrayBuffer(blocks * BLOCK_BYTES));
  const x = new Uint32Array(16);
  for (let block = 0; block < blocks; block++) {
    // Values are far smaller than 2^32 blocks: the counter's upper word stays 0.
    state[8] = block;
    x.set(state);
    rounds(x);
    for (let i = 0; i < 16; i++) stream.setUint32(block * BLOCK_BYTES + i * 4, x[i]! + state[i]!, true);
  }
  return Buffer.from(stream.buffer, 0, sizeBytes);
}

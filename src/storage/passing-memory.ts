import { mappedMemory, sliceOf } from './mapped-memory.ts';

const PIECE_BYTES = 64 * 1024;
/** Larger values get memory of their own. */
const LARGEST_SHARED_BYTES = 8 * 1024;

let piece: Buffer | undefined;
let usedBytes = 0;

/**
 * Memory for what is stored in a moment and then let go of, one after the other: many share a piece, which goes when all of them have gone. With a piece of
 * malloc's memory for each, those that V8 has not collected yet lie between what stays, and the holes that they leave are never given back: 40 MiB after
 * 100,000 creates. Not for what is kept: it would keep its neighbours.
 */
export function passingMemory(sizeBytes: number): Buffer {
  if (sizeBytes > LARGEST_SHARED_BYTES) return Buffer.allocUnsafeSlow(sizeBytes);
  if (piece === undefined || usedBytes + sizeBytes > PIECE_BYTES) {
    piece = mappedMemory(PIECE_BYTES);
    usedBytes = 0;
  }
  usedBytes += sizeBytes;
  return sliceOf(piece, usedBytes - sizeBytes, usedBytes);
}

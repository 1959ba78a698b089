import { DEFAULT_FRAME_BYTES, FRAME_HEADER_BYTES } from './frames.ts';

/** So much of one stream goes out before another has its turn. */
export const TURN_BYTES = 8 * DEFAULT_FRAME_BYTES;
/** Small frames of all connections stand in such pieces, one behind the other; a peer that does not read keeps one of them. */
const SLAB_BYTES = 64 * 1024;
const MAX_SMALL_BYTES = SLAB_BYTES / 4;
/** What may stand in front of or behind a turn's frames in the same buffer: the headers of its answer, say. */
const SPARE_BYTES = 4096;
const LARGE_BYTES = TURN_BYTES + 8 * FRAME_HEADER_BYTES + SPARE_BYTES;
/** Large ones that are kept for later turns. */
const MAX_FREE = 8;

const NOTHING = Buffer.alloc(0);
let slab = Buffer.allocUnsafeSlow(0);
let slabUsedBytes = 0;
const free: Buffer[] = [];

/**
 * Frames that wait for their connection's next flush. They are written where they leave from, in memory that many share or that is used again: a buffer of its
 * own for each costs more to make, to join and to collect than the copying does.
 */
export class Outbox {
  sizeBytes = 0;
  /** Where the room is that was reserved last. */
  target: Buffer = NOTHING;
  /** The run of bytes in `target` that is this one's; what was written before it and stands elsewhere is in `#pieces`. */
  #start = 0;
  #end = 0;
  #pieces: Buffer[] | undefined;
  /** Nobody else writes into `target`. */
  #isOwn = false;

  /** Room behind all else, to be filled at once: where in `target` it begins. */
  reserve(sizeBytes: number): number {
    this.sizeBytes += sizeBytes;
    if (!this.#isOwn || this.#end + sizeBytes > this.target.length) {
      if (sizeBytes <= MAX_SMALL_BYTES) this.#useSlab(sizeBytes);
      else this.#useLarge(sizeBytes);
    }
    const at = this.#end;
    this.#end = at + sizeBytes;
    if (!this.#isOwn) slabUsedBytes = this.#end;
    return at;
  }

  add(bytes: Buffer): void {
    const at = this.reserve(bytes.length);
    bytes.copy(this.target, at);
  }

  /** All of it, for the network. To be given back when it has left. */
  take(): Buffer {
    const last = this.target.subarray(this.#start, this.#end);
    const pieces = this.#pieces;
    this.sizeBytes = 0;
    this.#pieces = undefined;
    this.#isOwn = false;
    // A connection that says nothing for an hour would hold a slab for so long, in which others may have had all but a hundred bytes.
    this.target = NOTHING;
    this.#start = this.#end = 0;
    if (!pieces) return last;
    pieces.push(last);
    const whole = Buffer.concat(pieces);
    pieces.forEach(giveBack);
    return whole;
  }

  #useSlab(sizeBytes: number): void {
    if (slabUsedBytes + sizeBytes > slab.length) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      slabUsedBytes = 0;
    }
    if (this.#isOwn || this.target !== slab || this.#end !== slabUsedBytes) this.#startRun(slab, slabUsedBytes);
    this.#isOwn = false;
  }

  #useLarge(sizeBytes: number): void {
    const large = sizeBytes > LARGE_BYTES - SPARE_BYTES ? Buffer.allocUnsafeSlow(sizeBytes) : (free.pop() ?? Buffer.allocUnsafeSlow(LARGE_BYTES));
    const beforeBytes = this.#end - this.#start;
    if (this.#isOwn || this.#pieces || beforeBytes + sizeBytes > large.length) this.#startRun(large, 0);
    else {
      this.#end = this.target.copy(large, 0, this.#start, this.#end);
      this.#start = 0;
      this.target = large;
    }
    this.#isOwn = true;
  }

  #startRun(target: Buffer, start: number): void {
    if (this.#end > this.#start) (this.#pieces ??= []).push(this.target.subarray(this.#start, this.#end));
    this.target = target;
    this.#start = this.#end = start;
  }
}

/** What was taken has left: nobody looks at it any more. */
export function giveBack(bytes: Buffer): void {
  if (isReusable(bytes) && free.length < MAX_FREE) free.push(Buffer.from(bytes.buffer, 0, LARGE_BYTES));
}

/** Whether it is worth the giving back. */
export const isReusable = ({ buffer, byteOffset }: Buffer): boolean => byteOffset === 0 && buffer.byteLength === LARGE_BYTES;

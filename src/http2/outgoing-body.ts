import { DEFAULT_FRAME_BYTES, FRAME_HEADER_BYTES, Flag, FrameType, writeFrameHeader } from './frames.ts';

/** So much of one stream goes out before another has its turn. */
const TURN_BYTES = 8 * DEFAULT_FRAME_BYTES;
/** Pieces that were sent, before the others are moved. */
const MAX_SENT_PIECES = 256;
const NOTHING: Buffer[] = [];

/** What a stream has still to send, cut to what its window allows. */
export class OutgoingBody {
  #windowBytes = 0;
  #unsent: Buffer[] = NOTHING;
  /** The first of them that is not sent, and how much of it is. */
  #index = 0;
  #offset = 0;
  #unsentBytes = 0;
  #isComplete = false;
  /** Frames that follow the last byte, and end the stream in its place. */
  #trailers: Buffer | undefined;
  #isDone = false;

  /** All has been sent, and that it is all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Nothing may be added. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** What waits for room. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** There is none. */
  skip(): void {
    this.#isComplete = this.#isDone = true;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#unsent === NOTHING) this.#unsent = [];
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
  }

  /** Nothing more is added. */
  complete(trailers?: Buffer): void {
    this.#isComplete = true;
    this.#trailers = trailers;
  }

  /** The size of the window that results. */
  widen(bytes: number): number {
    return (this.#windowBytes += bytes);
  }

  /** How much could go out now, of what waits; undefined where there is nothing to say. */
  readyBytes(connectionWindowBytes: number): number | undefined {
    const ready = Math.min(this.#unsentBytes, this.#windowBytes, connectionWindowBytes, TURN_BYTES);
    if (ready > 0) return ready;
    return this.#isComplete && !this.#isDone && this.#unsentBytes === 0 ? 0 : undefined;
  }

  /** The next so many bytes in their frames, and the stream's end where they are the last. */
  take(streamId: number, sizeBytes: number): Buffer {
    const isLast = this.#isComplete && sizeBytes === this.#unsentBytes;
    if (isLast) this.#isDone = true;
    if (isLast && this.#trailers) return sizeBytes === 0 ? this.#trailers : Buffer.concat([this.#frames(streamId, sizeBytes, false), this.#trailers]);
    return this.#frames(streamId, sizeBytes, isLast);
  }

  #frames(streamId: number, sizeBytes: number, isLast: boolean): Buffer {
    const count = Math.max(1, Math.ceil(sizeBytes / DEFAULT_FRAME_BYTES));
    const frames = Buffer.allocUnsafe(count * FRAME_HEADER_BYTES + sizeBytes);
    let at = 0;
    for (let index = 1; index <= count; index++) {
      const length = Math.min(DEFAULT_FRAME_BYTES, frames.length - at - FRAME_HEADER_BYTES);
      at = writeFrameHeader(frames, at, length, FrameType.data, isLast && index === count ? Flag.endStream : 0, streamId);
      this.#copy(frames, at, length);
      at += length;
    }
    this.#windowBytes -= sizeBytes;
    this.#unsentBytes -= sizeBytes;
    if (this.#unsentBytes === 0) this.#forget();
    return frames;
  }

  #copy(target: Buffer, start: number, sizeBytes: number): void {
    for (let at = start; at < start + sizeBytes;) {
      const piece = this.#unsent[this.#index]!;
      const copied = piece.copy(target, at, this.#offset, this.#offset + start + sizeBytes - at);
      at += copied;
      this.#offset += copied;
      if (this.#offset < piece.length) return;
      this.#offset = 0;
      if (++this.#index < MAX_SENT_PIECES) continue;
      this.#unsent.splice(0, this.#index);
      this.#index = 0;
    }
  }

  #forget(): void {
    if (this.#unsent !== NOTHING) this.#unsent = NOTHING;
    this.#index = this.#offset = 0;
  }
}

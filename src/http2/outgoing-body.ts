import { DEFAULT_FRAME_BYTES, FRAME_HEADER_BYTES, FrameFlag, FrameType, writeFrameHeader } from './frames.ts';
import { type Outbox, TURN_BYTES } from './outbox.ts';

/** Pieces that were sent, before the others are moved. */
const MAX_SENT_PIECES = 256;
const NOTHING: readonly Buffer[] = [];

/** What a stream has still to send, cut to what its window allows. */
export class OutgoingBody {
  #windowBytes = 0;
  #unsent: readonly Buffer[] = NOTHING;
  /** Of `add`, which owns it; what came by `addAll` is its caller's. */
  #added: Buffer[] | undefined;
  /** The first of them that is not sent, and how much of it is. */
  #index = 0;
  #offset = 0;
  #unsentBytes = 0;
  #sentBytes = 0;
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

  /** What has gone out. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** The stream's window is open: it waits for the connection, if for anything. */
  get hasRoom(): boolean {
    return this.#windowBytes > 0;
  }

  /** There is none. */
  skip(): void {
    this.#isComplete = this.#isDone = true;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (!this.#added) this.#unsent = this.#added = [...this.#unsent];
    this.#added.push(bytes);
    this.#unsentBytes += bytes.length;
  }

  /** All that there is, of such a size. */
  addAll(parts: readonly Buffer[], sizeBytes: number): void {
    this.#unsent = parts;
    this.#unsentBytes = sizeBytes;
    this.#isComplete = true;
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

  /** Sends the next so many bytes in their frames, and the stream's end where they are the last. */
  moveTo(outbox: Outbox, streamId: number, sizeBytes: number): void {
    const isLast = this.#isComplete && sizeBytes === this.#unsentBytes;
    if (isLast) this.#isDone = true;
    if (!isLast || !this.#trailers) return this.#moveFrames(outbox, streamId, sizeBytes, isLast);
    if (sizeBytes > 0) this.#moveFrames(outbox, streamId, sizeBytes, false);
    outbox.add(this.#trailers);
  }

  #moveFrames(outbox: Outbox, streamId: number, sizeBytes: number, isLast: boolean): void {
    const count = Math.max(1, Math.ceil(sizeBytes / DEFAULT_FRAME_BYTES));
    let at = outbox.reserve(count * FRAME_HEADER_BYTES + sizeBytes);
    const { target } = outbox;
    for (let index = 1, leftBytes = sizeBytes; index <= count; index++) {
      const length = Math.min(DEFAULT_FRAME_BYTES, leftBytes);
      at = writeFrameHeader(target, at, length, FrameType.data, isLast && index === count ? FrameFlag.endStream : 0, streamId);
      this.#copy(target, at, length);
      at += length;
      leftBytes -= length;
    }
    this.#windowBytes -= sizeBytes;
    this.#unsentBytes -= sizeBytes;
    this.#sentBytes += sizeBytes;
    if (this.#unsentBytes === 0) this.#forget();
  }

  #copy(target: Buffer, start: number, sizeBytes: number): void {
    for (let at = start; at < start + sizeBytes;) {
      const piece = this.#unsent[this.#index]!;
      const copied = piece.copy(target, at, this.#offset, this.#offset + start + sizeBytes - at);
      at += copied;
      this.#offset += copied;
      if (this.#offset < piece.length) return;
      this.#offset = 0;
      if (++this.#index < MAX_SENT_PIECES || !this.#added) continue;
      this.#added.splice(0, this.#index);
      this.#index = 0;
    }
  }

  #forget(): void {
    this.#unsent = NOTHING;
    this.#added = undefined;
    this.#index = this.#offset = 0;
  }
}

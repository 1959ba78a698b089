import { DEFAULT_FRAME_BYTES, Flag, FrameType, writeFrameHeader } from './frames.ts';

const HEADER_BYTES = 9;

/** What a stream has still to send, cut to what its window allows. */
export class OutgoingBody {
  #windowBytes = 0;
  #unsent: Buffer[] = [];
  /** Of the first of them. */
  #sentBytes = 0;
  #isComplete = false;
  #isDone = false;

  /** All has been sent, and that it is all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Nothing waits for room. */
  get isEmpty(): boolean {
    return this.#unsent.length === 0;
  }

  /** There is none. */
  skip(): void {
    this.#isDone = true;
  }

  /** Empty only where it is the last. */
  add(bytes: Buffer, isLast: boolean): void {
    this.#unsent.push(bytes);
    this.#isComplete = isLast;
  }

  /** The size of the window that results. */
  widen(bytes: number): number {
    return (this.#windowBytes += bytes);
  }

  /** The next frame, of as many bytes as this stream's window and the connection's allow; undefined when there is none, or no room. */
  next(streamId: number, connectionWindowBytes: number): { frame: Buffer; sizeBytes: number } | undefined {
    const [first] = this.#unsent;
    if (!first) return undefined;
    const roomBytes = Math.min(this.#windowBytes, connectionWindowBytes, DEFAULT_FRAME_BYTES);
    if (roomBytes <= 0 && first.length > 0) return undefined;
    const start = this.#sentBytes;
    const sizeBytes = Math.min(first.length - start, Math.max(roomBytes, 0));
    this.#take(first, sizeBytes);
    const frame = Buffer.allocUnsafe(HEADER_BYTES + sizeBytes);
    first.copy(frame, writeFrameHeader(frame, 0, sizeBytes, FrameType.data, this.#isDone ? Flag.endStream : 0, streamId), start, start + sizeBytes);
    return { frame, sizeBytes };
  }

  #take(first: Buffer, sizeBytes: number): void {
    this.#sentBytes += sizeBytes;
    this.#windowBytes -= sizeBytes;
    if (this.#sentBytes === first.length) {
      this.#unsent.shift();
      this.#sentBytes = 0;
    }
    this.#isDone = this.#isComplete && this.#unsent.length === 0;
  }
}

import { DEFAULT_FRAME_BYTES, Flag, FrameType, writeFrameHeader } from './frames.ts';

const HEADER_BYTES = 9;

/** What a stream has still to send, cut to what its window allows. */
export class OutgoingBody {
  readonly #streamId: number;
  #windowBytes: number;
  #unsent: Buffer[] = [];
  /** Of the first of them. */
  #sentBytes = 0;
  #isComplete = false;
  #isDone = false;

  constructor(streamId: number, windowBytes: number) {
    this.#streamId = streamId;
    this.#windowBytes = windowBytes;
  }

  /** All has been sent, and that it is all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Never empty. */
  add(bytes: Buffer, isLast: boolean): void {
    this.#unsent.push(bytes);
    this.#isComplete = isLast;
  }

  widen(bytes: number): void {
    this.#windowBytes += bytes;
  }

  /** The next frame, of as many bytes as this stream's window and the connection's allow; undefined when there is none, or no room. */
  next(connectionWindowBytes: number): { frame: Buffer; sizeBytes: number } | undefined {
    const [first] = this.#unsent;
    if (!first) return undefined;
    const sizeBytes = Math.min(first.length - this.#sentBytes, this.#windowBytes, connectionWindowBytes, DEFAULT_FRAME_BYTES);
    if (sizeBytes <= 0) return undefined;
    const start = this.#sentBytes;
    this.#sentBytes += sizeBytes;
    this.#windowBytes -= sizeBytes;
    if (this.#sentBytes === first.length) {
      this.#unsent.shift();
      this.#sentBytes = 0;
    }
    this.#isDone = this.#isComplete && this.#unsent.length === 0;
    const frame = Buffer.allocUnsafe(HEADER_BYTES + sizeBytes);
    first.copy(frame, writeFrameHeader(frame, 0, sizeBytes, FrameType.data, this.#isDone ? Flag.endStream : 0, this.#streamId), start, start + sizeBytes);
    return { frame, sizeBytes };
  }
}

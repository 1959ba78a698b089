import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './header-block.ts';

/** What a stream needs of its connection. */
export interface StreamCarrier {
  /** Calls back when more may be sent. */
  sendData(stream: SpdyStream, chunk: Buffer, isLast: boolean, done: () => void): void;
  /** The stream wants more of what comes for it. */
  wantsMore(stream: SpdyStream): void;
  /** Nobody here uses the stream any more. */
  isGone(stream: SpdyStream): void;
}

/**
 * One stream of a SPDY connection. Each side ends its own half; `destroy` ends both at once and tells the other side so. As upstream's implementation does not use SPDY's
 * windows (github.com/moby/spdystream), a stream that is not read holds up all streams of its connection: back-pressure is the connection's.
 */
export class SpdyStream extends Duplex {
  readonly id: number;
  /** As the side that opened it sent them. */
  readonly headers: SpdyHeaders;
  readonly #carrier: StreamCarrier;
  #hasEnded = false;
  #isCutOff = false;

  constructor(id: number, headers: SpdyHeaders, carrier: StreamCarrier) {
    super({ allowHalfOpen: true, emitClose: true });
    this.id = id;
    this.headers = headers;
    this.#carrier = carrier;
  }

  /** Both sides have said all they had to. */
  get isComplete(): boolean {
    return this.writableFinished && this.#hasEnded;
  }

  /** What came from the other side. False where it is more than the stream takes before it is read. */
  receive(chunk: Buffer): boolean {
    return this.#hasEnded || this.destroyed || this.push(chunk);
  }

  /** Whether its end is that of the connection, and not what the other side meant. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** The connection has ended. */
  cutOff(): void {
    this.#isCutOff = !this.#hasEnded;
    this.receiveEnd();
    this.end();
  }

  /** The other side has no more to say. */
  receiveEnd(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.push(null);
  }

  override _read(): void {
    this.#carrier.wantsMore(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#carrier.sendData(this, chunk, false, done);
  }

  override _final(done: () => void): void {
    this.#carrier.sendData(this, Buffer.alloc(0), true, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#carrier.isGone(this);
    done(error);
  }
}

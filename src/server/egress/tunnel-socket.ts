import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** What a socket that is no file of the system's asks of whoever carries its bytes. */
export interface Carrier {
  /** Calls back when more may follow, or with what has ended the way. */
  write(bytes: Buffer, done: (error?: Error) => void): void;
  /** Nobody reads, or somebody does again. */
  pause(): void;
  resume(): void;
  /** Nothing more is written or read: both ways end together. */
  close(): void;
}

/**
 * A connection whose bytes another carries, with what our clients call of a socket, so that TLS, HTTP and all above need not know. It is no net.Socket by
 * descent: Node's TLS takes one without a file for one that is still to be connected. It has no half-open state, as konnectivity's has none: whoever ends it
 * closes it.
 */
export class TunnelSocket extends Duplex {
  readonly #carrier: Carrier;

  constructor(carrier: Carrier) {
    super({ allowHalfOpen: false });
    this.#carrier = carrier;
    // An error may come before its owner listens: its close tells all there is to know, as of sockets that are dialled directly.
    this.on('error', () => {});
  }

  /** For those who take sockets. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }

  /** Bytes have come; they are the socket's from now on. */
  deliver(bytes: Buffer): void {
    if (!this.push(bytes)) this.#carrier.pause();
  }

  /** No more will come. */
  finishReading(): void {
    if (!this.destroyed) this.push(null);
  }

  /** Packets leave at once. */
  setNoDelay(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#carrier.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#carrier.write(chunk, callback);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], callback: (error?: Error | null) => void): void {
    this.#carrier.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#carrier.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#carrier.close();
    callback(error);
  }
}

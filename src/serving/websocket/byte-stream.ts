import { Duplex } from 'node:stream';
import type { WebSocketConnection } from './connection.ts';
import { CLOSE_CODE } from './frames.ts';

const UNREAD_MS = 10_000;

/** A WebSocket as a stream of bytes: where one message ends and the next begins says nothing. Text is not spoken (client-go/tools/portforward, TunnelingConnection). */
export class WebSocketByteStream extends Duplex {
  readonly #connection: WebSocketConnection;
  #isListening = false;

  constructor(connection: WebSocketConnection) {
    super({ allowHalfOpen: false });
    this.#connection = connection;
    connection.onClose(() => this.#close());
  }

  /** What came before the end is still to be read, but not for ever. */
  #close(): void {
    if (this.destroyed) return;
    const timer = setTimeout(() => this.destroy(), UNREAD_MS);
    this.once('close', () => clearTimeout(timer));
    this.push(null);
    this.end();
  }

  override _read(): void {
    if (this.#isListening) return this.#connection.resume();
    this.#isListening = true;
    this.#connection.listen((bytes, _isStart, _isEnd, isText) => {
      if (isText) this.#connection.close(CLOSE_CODE.UNSUPPORTED_DATA);
      else if (bytes.length > 0 && !this.push(bytes)) this.#connection.pause();
    });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#connection.send(chunk)) done();
    else this.#connection.onDrain(done);
  }

  override _final(done: () => void): void {
    this.#connection.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.close();
    done(error);
  }
}

import { Readable } from 'node:stream';
import type { ResponseHeaders } from '../exchange.ts';
import type { BackendResponse } from './transport.ts';

/** The connection that an answer comes from. */
export interface AnswerSource {
  /** After `push` was false: the reader has caught up. */
  onRoom(): void;
  /** The reader wants no more of it. */
  abandon(): void;
}

/** A body of known length up to this size is waited for: it goes out in one piece with its head, and no stream is made for it. */
export const WHOLE_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** An answer as it comes in. The response is given out when it need not be waited for: when its body is there, or will be long in coming. */
export class Answer {
  readonly response: Promise<BackendResponse>;
  readonly #source: AnswerSource;
  #resolve!: (response: BackendResponse) => void;
  #reject!: (error: Error) => void;
  #status = 0;
  #headers: ResponseHeaders | undefined;
  #trailers: ResponseHeaders | undefined;
  #pieces: Buffer[] = [];
  #waitingBytes = 0;
  #body: AnswerBody | undefined;
  #isOver = false;

  constructor(source: AnswerSource) {
    this.#source = source;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** All of it has come, or nothing more will. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get hasBegun(): boolean {
    return this.#headers !== undefined;
  }

  /** `lengthBytes`: of the body; undefined where that is not known. */
  begin(status: number, headers: ResponseHeaders, lengthBytes: number | undefined): void {
    this.#status = status;
    this.#headers = headers;
    // What comes in the same turn may still be all of it.
    if (lengthBytes === undefined || lengthBytes > WHOLE_BYTES) setImmediate(() => this.#openBody());
  }

  /** False where more is held than the reader has taken: nothing more should come before `onRoom`. */
  push(piece: Buffer): boolean {
    if (this.#body) return this.#body.push(piece);
    this.#pieces.push(piece);
    this.#waitingBytes += piece.length;
    return this.#waitingBytes <= WHOLE_BYTES;
  }

  /** All of it was pushed. */
  end(trailers: ResponseHeaders | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#trailers = trailers;
    if (this.#body) return this.#body.finish();
    const [first = NOTHING] = this.#pieces;
    this.#giveOut(this.#pieces.length > 1 ? Buffer.concat(this.#pieces, this.#waitingBytes) : first);
  }

  /** Nothing more comes. Where some of the body is out already, it closes without an end. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#body) this.#body.destroy();
    else this.#reject(error);
  }

  #openBody(): void {
    if (this.#isOver) return;
    this.#body = new AnswerBody(this.#source);
    for (const piece of this.#pieces) this.#body.push(piece);
    this.#pieces = [];
    this.#giveOut(this.#body);
  }

  #giveOut(body: Buffer | Readable): void {
    this.#resolve({ status: this.#status, headers: this.#headers!, body, trailers: () => this.#trailers });
  }
}

/** A body for those who read it as a stream, however it came. */
export const streamOf = (body: BackendResponse['body']): Readable => (Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body);

class AnswerBody extends Readable {
  readonly #source: AnswerSource;
  #isComplete = false;

  constructor(source: AnswerSource) {
    super({ highWaterMark: WHOLE_BYTES });
    this.#source = source;
  }

  finish(): void {
    this.#isComplete = true;
    this.push(null);
  }

  override _read(): void {
    this.#source.onRoom();
  }

  /** Its close tells all there is to know. */
  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isComplete) this.#source.abandon();
    done();
  }
}

import type { Readable } from 'node:stream';

/** Where a request's body goes. */
export interface BodySink {
  /** False: no more until `resume`. */
  write(chunk: Buffer): boolean;
  end(): void;
  /** The client has broken off. */
  breakOff(): void;
}

/** Sends a body on, at the speed of the side that takes it. */
export class BodyPump {
  readonly #body: Readable;
  readonly #sink: BodySink;
  #isOver = false;

  constructor(body: Readable, sink: BodySink) {
    this.#body = body;
    this.#sink = sink;
    body.on('data', this.#onData).once('end', this.#onEnd).once('close', this.#onClose);
  }

  /** All of it has left, or nobody wants the rest. */
  get isOver(): boolean {
    return this.#isOver;
  }

  resume(): void {
    if (!this.#isOver) this.#body.resume();
  }

  /** The rest is read and forgotten, so that the client can go on to its next request; how much of it is worth reading, the client's connection knows. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).resume();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#sink.write(chunk)) this.#body.pause();
  };

  readonly #onEnd = (): void => {
    this.#isOver = true;
    this.#sink.end();
  };

  readonly #onClose = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.breakOff();
  };
}

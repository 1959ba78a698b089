import type { Fields } from './hpack.ts';
import { OutgoingBody } from './outgoing-body.ts';

export interface StreamFailure {
  /** In grpc-go's words. */
  reason: string;
  /** The peer has certainly not looked at it. */
  wasNotSent: boolean;
  /** Why the stream alone ended; undefined where the connection did. */
  resetCode: number | undefined;
}

/** What a stream's owner is told; `onEnd` or `onFailure` is the last. */
export interface StreamEvents {
  /** At the beginning, and again for each interim answer and for trailers. */
  onHeaders(fields: Fields): void;
  /** `piece` shares memory with others. To be released when it has been taken in. */
  onData(piece: Buffer): void;
  /** After `send` was false: there is room. */
  onDrain?(): void;
  onEnd(): void;
  onFailure(failure: StreamFailure): void;
}

/** A stream as its owner holds it; what is done with it, the connection does. */
export class Http2Stream {
  readonly events: StreamEvents;
  /** 0 until it is begun. */
  id = 0;
  isOver = false;
  readonly body = new OutgoingBody();
  wantsDrain = false;
  /** What the peer may still send. */
  receivableBytes: number;
  /** Released, and not yet given back to the peer. */
  unreturnedBytes = 0;

  constructor(events: StreamEvents, receivableBytes: number) {
    this.events = events;
    this.receivableBytes = receivableBytes;
  }
}

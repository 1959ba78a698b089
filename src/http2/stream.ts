import type { UnsentClaim } from '../net/unsent-answers.ts';
import { OutgoingBody } from './outgoing-body.ts';

/** What the owner of a stream is told, at either end. */
export interface StreamEvents {
  /** `piece` shares memory with others. To be released when it has been taken in. */
  onData(piece: Buffer): void;
  /** After `send` was false: there is room. */
  onDrain?(): void;
}

/** A stream as its owner holds it; what is done with it, the connection does. */
export class Http2Stream<Events extends StreamEvents> {
  /** Its owner, once it has one. */
  events!: Events;
  /** 0 until it is begun. */
  id = 0;
  isOver = false;
  readonly body = new OutgoingBody();
  wantsDrain = false;
  /** Where its body is counted while some of it waits for the peer. */
  unsentClaim: UnsentClaim | undefined = undefined;
  /** Waits for the next flush, to be told of it. */
  isSettling = false;
  /** Given to the connection since its last flush, which `flush` counts. */
  unflushedBytes = 0;
  flush = 0;
  /** What the peer may still send. */
  receivableBytes: number;
  /** Released, and not yet given back to the peer. */
  unreturnedBytes = 0;

  constructor(receivableBytes: number) {
    this.receivableBytes = receivableBytes;
  }
}

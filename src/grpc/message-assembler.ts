import { BytePieces } from '../util/byte-pieces.ts';
import { GrpcCode, GrpcError } from './status.ts';

/** A flag byte and a length of four bytes stand before each message (grpc/doc/PROTOCOL-HTTP2.md). */
const HEADER_BYTES = 5;
/** The largest that a client of etcd takes: an int32's (clientv3 defaultMaxCallRecvMsgSize). */
export const MAX_MESSAGE_BYTES = 2 ** 31 - 1;

/** The message as it goes over the wire. */
export function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, HEADER_BYTES);
  return frame;
}

/** Puts messages together from the pieces in which they arrive. Memory grows with what has arrived, not with what a header promises. */
export class MessageAssembler {
  readonly #maxBytes: number;
  readonly #pieces = new BytePieces();
  #size = 0;
  #wanted = HEADER_BYTES;

  constructor(maxBytes = MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** True between messages. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Calls `take` with every message that `piece` completes; a message may share the memory of the piece. Throws GrpcError when it is too large. */
  push(piece: Buffer, take: (message: Buffer) => void): void {
    this.#pieces.add(piece);
    this.#size += piece.length;
    if (this.#size < this.#wanted) return;
    let bytes = this.#pieces.take();
    for (;;) {
      this.#wanted = bytes.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + this.#lengthOf(bytes);
      if (bytes.length < this.#wanted) break;
      const message = bytes.subarray(HEADER_BYTES, this.#wanted);
      bytes = bytes.subarray(this.#wanted);
      take(message);
    }
    if (bytes.length > 0) this.#pieces.add(bytes);
    this.#size = bytes.length;
  }

  #lengthOf(bytes: Buffer): number {
    if (bytes[0] !== 0) throw new GrpcError(GrpcCode.internal, 'a message is compressed, and no compression was agreed on');
    const length = bytes.readUInt32BE(1);
    if (length > this.#maxBytes) throw new GrpcError(GrpcCode.resourceExhausted, `received message larger than max (${length} vs. ${this.#maxBytes})`);
    return length;
  }
}

/** The frames of SPDY/3.1 (draft 3.1, §2.2). */
export const CONTROL = { SYN_STREAM: 1, SYN_REPLY: 2, RST_STREAM: 3, SETTINGS: 4, PING: 6, GOAWAY: 7, HEADERS: 8, WINDOW_UPDATE: 9 } as const;
export const RESET = { PROTOCOL_ERROR: 1, INVALID_STREAM: 2, REFUSED_STREAM: 3, CANCEL: 5 } as const;
export const FIN = 0x01;

const VERSION = 3;
const HEADER_BYTES = 8;
/** Of a control frame; data frames may be as long as they like, since they are handed on as they come. */
const MAX_CONTROL_BYTES = 64 * 1024;

export function controlFrame(type: number, flags: number, ...payload: (number | Buffer)[]): Buffer {
  const parts = payload.map((part) => (typeof part === 'number' ? uint32(part) : part));
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0x8000 | VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.length, 0),
    4,
  );
  head[4] = flags;
  return Buffer.concat([head, ...parts]);
}

/** What stands before the bytes of a data frame. */
export function dataHeader(streamId: number, flags: number, sizeBytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEADER_BYTES);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt32BE(sizeBytes, 4);
  head[4] = flags;
  return head;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export interface FrameHandler {
  control(type: number, flags: number, payload: Buffer): void;
  /** A piece of a data frame; `isLast` where the stream's other side has no more to send. May be empty then. */
  data(streamId: number, bytes: Buffer, isLast: boolean): void;
}

/** Cuts what comes from the network into frames. */
export class SpdyFrameReader {
  readonly #handler: FrameHandler;
  /** What came of a frame that is not whole yet: its header, or all of a control frame. */
  #held: Buffer | undefined;
  #data: { streamId: number; flags: number; remaining: number } | undefined;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Throws where the bytes are no SPDY; what follows then makes no sense. */
  feed(chunk: Buffer): void {
    let bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = undefined;
    while (bytes.length > 0) {
      const rest = this.#data ? this.#feedData(bytes) : this.#feedFrame(bytes);
      if (rest === undefined) {
        this.#held = bytes;
        return;
      }
      bytes = rest;
    }
  }

  #feedData(bytes: Buffer): Buffer {
    const data = this.#data!;
    const piece = bytes.subarray(0, data.remaining);
    data.remaining -= piece.length;
    if (data.remaining === 0) this.#data = undefined;
    this.#handler.data(data.streamId, piece, data.remaining === 0 && (data.flags & FIN) !== 0);
    return bytes.subarray(piece.length);
  }

  /** Answers with what is behind the frame; undefined where more is needed. */
  #feedFrame(bytes: Buffer): Buffer | undefined {
    if (bytes.length < HEADER_BYTES) return undefined;
    const first = bytes.readUInt32BE(0);
    const flags = bytes[4]!;
    const length = bytes.readUIntBE(5, 3);
    if (first < 0x80000000) return this.#beginData(first, flags, length, bytes);
    if (((first >>> 16) & 0x7fff) !== VERSION) throw new Error('the frame is of another version of SPDY');
    if (length > MAX_CONTROL_BYTES) throw new Error('the control frame is too long');
    if (bytes.length < HEADER_BYTES + length) return undefined;
    this.#handler.control(first & 0xffff, flags, bytes.subarray(HEADER_BYTES, HEADER_BYTES + length));
    return bytes.subarray(HEADER_BYTES + length);
  }

  #beginData(streamId: number, flags: number, length: number, bytes: Buffer): Buffer {
    if (length === 0) this.#handler.data(streamId, bytes.subarray(0, 0), (flags & FIN) !== 0);
    else this.#data = { streamId, flags, remaining: length };
    return bytes.subarray(HEADER_BYTES);
  }
}

/** The frames of WebSocket (RFC 6455 §5). */
export const OPCODE = { CONTINUATION: 0x0, TEXT: 0x1, BINARY: 0x2, CLOSE: 0x8, PING: 0x9, PONG: 0xa } as const;
export const CLOSE_CODE = { NORMAL: 1000, GOING_AWAY: 1001, PROTOCOL_ERROR: 1002, UNSUPPORTED_DATA: 1003, TOO_BIG: 1009, INTERNAL_ERROR: 1011 } as const;

const FIN = 0x80;
const MASKED = 0x80;
const CONTROL_PAYLOAD_MAX = 125;

/** What stands before a frame's payload, of a server: nothing is masked. */
export function frameHeader(opcode: number, sizeBytes: number): Buffer {
  if (sizeBytes <= CONTROL_PAYLOAD_MAX) return Buffer.from([FIN | opcode, sizeBytes]);
  if (sizeBytes <= 0xffff) return Buffer.from([FIN | opcode, 126, sizeBytes >> 8, sizeBytes & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = FIN | opcode;
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(sizeBytes), 2);
  return header;
}

export class WebSocketError extends Error {
  readonly closeCode: number;

  constructor(closeCode: number, message: string) {
    super(message);
    this.closeCode = closeCode;
  }
}

const broken = (message: string): WebSocketError => new WebSocketError(CLOSE_CODE.PROTOCOL_ERROR, message);

export interface MessageHandler {
  /** A piece of a message, as it came: messages may be of any length, and are never held. A piece may be empty. */
  data(bytes: Buffer, isStart: boolean, isEnd: boolean, isText: boolean): void;
  control(opcode: number, payload: Buffer): void;
}

interface Frame {
  opcode: number;
  isFinal: boolean;
  remaining: number;
  mask: Buffer;
  maskAt: number;
}

/**
 * Cuts what a client sends into messages and control frames. It is not the `ws` package's Receiver, which holds a frame until it is whole: a message of 256 MiB takes
 * 524 MiB there and 30 here, and its `maxPayload` would refuse what upstream passes on (gorilla's NextReader has no limit). Per GiB in messages of 32 KiB, `ws` uses 3.3 s
 * of CPU and this 0.9. `ws-differential.test.ts` checks that both accept and refuse the same frames.
 */
export class WebSocketFrameReader {
  readonly #handler: MessageHandler;
  #held: Buffer | undefined;
  #frame: Frame | undefined;
  /** The message that is not at its end yet. */
  #message: { isText: boolean; hasBegun: boolean } | undefined;

  constructor(handler: MessageHandler) {
    this.#handler = handler;
  }

  /** Throws WebSocketError where the client breaks the rules; nothing makes sense after it. The bytes are changed in place. */
  feed(chunk: Buffer): void {
    let bytes = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#held = undefined;
    while (bytes.length > 0 || this.#frame?.remaining === 0) {
      const rest = this.#frame ? this.#payload(this.#frame, bytes) : this.#header(bytes);
      if (rest === undefined) {
        this.#held = bytes;
        return;
      }
      bytes = rest;
    }
  }

  /** Answers with what is behind the header; undefined where more is needed. */
  #header(bytes: Buffer): Buffer | undefined {
    if (bytes.length < 2) return undefined;
    const [first, second] = [bytes[0]!, bytes[1]!];
    const shortLength = second & 0x7f;
    const lengthBytes = shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0;
    if ((second & MASKED) === 0) throw broken('the frame is not masked');
    if (bytes.length < 2 + lengthBytes + 4) return undefined;
    const length = lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : shortLength;
    const opcode = first & 0x0f;
    this.#checkFrame(first, opcode, length, shortLength);
    const mask = Buffer.from(bytes.subarray(2 + lengthBytes, 6 + lengthBytes));
    this.#frame = { opcode, isFinal: (first & FIN) !== 0, remaining: length, mask, maskAt: 0 };
    return bytes.subarray(6 + lengthBytes);
  }

  /** `shortLength` is the length's first seven bits: of a control frame it is the whole length. */
  #checkFrame(first: number, opcode: number, length: number, shortLength: number): void {
    if (first & 0x70) throw broken('the frame uses an extension that was not agreed on');
    if (opcode >= OPCODE.CLOSE) {
      if (opcode > OPCODE.PONG) throw broken('the frame is of no known kind');
      if (shortLength > CONTROL_PAYLOAD_MAX || (first & FIN) === 0) throw broken('a control frame is short and whole');
      return;
    }
    if (opcode > OPCODE.BINARY) throw broken('the frame is of no known kind');
    if ((opcode === OPCODE.CONTINUATION) !== (this.#message !== undefined)) throw broken('messages may not be mixed');
    if (length > Number.MAX_SAFE_INTEGER) throw new WebSocketError(CLOSE_CODE.TOO_BIG, 'the frame is too long');
    if (opcode !== OPCODE.CONTINUATION) this.#message = { isText: opcode === OPCODE.TEXT, hasBegun: false };
  }

  #payload(frame: Frame, bytes: Buffer): Buffer | undefined {
    if (frame.opcode >= OPCODE.CLOSE) return this.#controlPayload(frame, bytes);
    const piece = bytes.subarray(0, frame.remaining);
    unmask(piece, frame.mask, frame.maskAt);
    frame.maskAt = (frame.maskAt + piece.length) & 3;
    frame.remaining -= piece.length;
    const message = this.#message!;
    const isStart = !message.hasBegun;
    const isEnd = frame.remaining === 0 && frame.isFinal;
    message.hasBegun = true;
    if (frame.remaining === 0) this.#frame = undefined;
    if (isEnd) this.#message = undefined;
    this.#handler.data(piece, isStart, isEnd, message.isText);
    return bytes.subarray(piece.length);
  }

  #controlPayload({ opcode, remaining, mask }: Frame, bytes: Buffer): Buffer | undefined {
    if (bytes.length < remaining) return undefined;
    const payload = bytes.subarray(0, remaining);
    unmask(payload, mask, 0);
    this.#frame = undefined;
    this.#handler.control(opcode, payload);
    return bytes.subarray(remaining);
  }
}

/** Four bytes at a time where the memory lies so: this runs over every byte that a client sends. `maskAt` is the mask's byte that the first one meets. */
export function unmask(bytes: Buffer, mask: Buffer, maskAt: number): void {
  const { length } = bytes;
  let at = 0;
  for (; at < length && ((bytes.byteOffset + at) & 3) !== 0; at++) bytes[at]! ^= mask[(maskAt + at) & 3]!;
  if (at === length) return;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, (length - at) >> 2);
  const turned = new Uint8Array(4);
  for (let index = 0; index < 4; index++) turned[index] = mask[(maskAt + at + index) & 3]!;
  const word = new Uint32Array(turned.buffer)[0]!;
  for (let index = 0; index < words.length; index++) words[index]! ^= word;
  for (at += words.length * 4; at < length; at++) bytes[at]! ^= mask[(maskAt + at) & 3]!;
}

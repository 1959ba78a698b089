/* The frames of HTTP/2 (RFC 9113 §4 and §6). */

export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const FrameFlag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;
export const Setting = { headerTableSize: 1, enablePush: 2, maxConcurrentStreams: 3, initialWindowSize: 4, maxFrameSize: 5, maxHeaderListSize: 6 } as const;
/** Why a stream or a connection ended (§7). */
export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** The peer has broken a rule in such a way that the connection is lost. */
export class Http2Error extends Error {
  readonly code: number;
  constructor(message: string, code: number = ErrorCode.protocolError) {
    super(message);
    this.code = code;
  }
}

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const FRAME_HEADER_BYTES = 9;
/** What either side may send before it is told otherwise; we never tell otherwise. */
export const DEFAULT_FRAME_BYTES = 16_384;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 2 ** 31 - 1;
/** The largest that a peer may allow us (§4.2). */
const MAX_FRAME_BYTES = 2 ** 24 - 1;

export interface Frame {
  type: number;
  flags: number;
  streamId: number;
  payload: Buffer;
}

export function writeFrameHeader(target: Buffer, at: number, lengthBytes: number, type: number, flags: number, streamId: number): number {
  target[at] = lengthBytes >>> 16;
  target[at + 1] = lengthBytes >>> 8;
  target[at + 2] = lengthBytes;
  target[at + 3] = type;
  target[at + 4] = flags;
  target.writeUInt32BE(streamId, at + 5);
  return at + FRAME_HEADER_BYTES;
}

export function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  payload.copy(bytes, writeFrameHeader(bytes, 0, payload.length, type, flags, streamId));
  return bytes;
}

/** A block in as many frames as it needs: mostly one. */
export function headersFrames(streamId: number, block: Buffer, isLast: boolean): Buffer {
  const flags = isLast ? FrameFlag.endStream : 0;
  if (block.length <= DEFAULT_FRAME_BYTES) return frame(FrameType.headers, flags | FrameFlag.endHeaders, streamId, block);
  const frames = [frame(FrameType.headers, flags, streamId, block.subarray(0, DEFAULT_FRAME_BYTES))];
  for (let at = DEFAULT_FRAME_BYTES; at < block.length; at += DEFAULT_FRAME_BYTES) {
    const isLastPart = at + DEFAULT_FRAME_BYTES >= block.length;
    frames.push(frame(FrameType.continuation, isLastPart ? FrameFlag.endHeaders : 0, streamId, block.subarray(at, at + DEFAULT_FRAME_BYTES)));
  }
  return Buffer.concat(frames);
}

export function numberFrame(type: number, streamId: number, value: number): Buffer {
  const payload = Buffer.allocUnsafe(4);
  payload.writeUInt32BE(value);
  return frame(type, 0, streamId, payload);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(settings.length * 6);
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return frame(FrameType.settings, 0, 0, payload);
}

/** There are six; Go's server takes as many (x/net/http2 server.go, processSettings). */
const MAX_SETTINGS = 100;

/** By number; of one that is there twice the last counts. Throws where one is not whole, or has a value that it cannot have (§6.5.2). */
export function readSettings(payload: Buffer): Map<number, number> {
  if (payload.length % 6 !== 0) throw new Http2Error('settings of another size', ErrorCode.frameSizeError);
  if (payload.length > MAX_SETTINGS * 6) throw new Http2Error('too many settings', ErrorCode.enhanceYourCalm);
  const settings = new Map<number, number>();
  for (let at = 0; at < payload.length; at += 6) {
    const id = payload.readUInt16BE(at);
    const value = payload.readUInt32BE(at + 2);
    checkSetting(id, value);
    settings.set(id, value);
  }
  return settings;
}

function checkSetting(id: number, value: number): void {
  if (id === Setting.enablePush && value > 1) throw new Http2Error('a push that is neither on nor off');
  if (id === Setting.initialWindowSize && value > MAX_WINDOW_BYTES) throw new Http2Error('a window that is too large', ErrorCode.flowControlError);
  if (id === Setting.maxFrameSize && (value < DEFAULT_FRAME_BYTES || value > MAX_FRAME_BYTES)) throw new Http2Error('frames of a size that is not allowed');
}

export function goawayFrame(lastStreamId: number, code: number, message: string): Buffer {
  const payload = Buffer.alloc(8 + Buffer.byteLength(message));
  payload.writeUInt32BE(lastStreamId);
  payload.writeUInt32BE(code, 4);
  payload.write(message, 8);
  return frame(FrameType.goaway, 0, 0, payload);
}

/** Throws where the frame has not the size that all of its kind have. */
export function checkSize({ payload }: Frame, sizeBytes: number): void {
  if (payload.length !== sizeBytes) throw new Http2Error(`a frame of ${payload.length} bytes, not ${sizeBytes}`, ErrorCode.frameSizeError);
}

/** The payload of a DATA or HEADERS frame without its padding and priority. Throws where they do not fit. */
export function unpadded({ flags, payload, streamId }: Frame, hasPriority = false): Buffer {
  if (!hasPriority && !(flags & FrameFlag.padded)) return payload;
  const paddingStart = flags & FrameFlag.padded ? 1 : 0;
  const start = paddingStart + (hasPriority ? PRIORITY_BYTES : 0);
  if (start > payload.length) throw new Http2Error('a frame that ends too early', ErrorCode.frameSizeError);
  const padding = flags & FrameFlag.padded ? payload[0]! : 0;
  if (start + padding > payload.length) throw new Http2Error('the padding of a frame is longer than the frame');
  if (hasPriority) checkDependency(payload, paddingStart, streamId);
  return payload.subarray(start, payload.length - padding);
}

const PRIORITY_BYTES = 5;

/** Priorities say nothing any more (§5.3.2), but have to be some. Throws where they are not. */
export function checkPriority(received: Frame): void {
  if (received.streamId === 0) throw new Http2Error('a priority of no stream');
  checkSize(received, PRIORITY_BYTES);
  checkDependency(received.payload, 0, received.streamId);
}

/** As Go has it, and RFC 7540 (§5.3.1) before priorities were given up. */
function checkDependency(payload: Buffer, at: number, streamId: number): void {
  if ((payload.readUInt32BE(at) & MAX_WINDOW_BYTES) === streamId) throw new Http2Error('a stream that depends on itself');
}

const NOTHING = Buffer.alloc(0);

/** The first bytes of an answer in HTTP/1 would be a frame of 4,740,180 bytes: whoever reads the error should not have to know that. */
function tooLong(bytes: Buffer, at: number, length: number): Http2Error {
  const isHttp1 = bytes.toString('latin1', at, at + 'HTTP/1.'.length) === 'HTTP/1.';
  return new Http2Error(isHttp1 ? 'the other side speaks HTTP/1' : `a frame of ${length} bytes is larger than allowed`, ErrorCode.frameSizeError);
}

/** Cuts what arrives into frames; payloads share the memory of what arrived. */
export class Http2FrameReader {
  #bytes: Buffer = NOTHING;
  #at = 0;

  get unreadBytes(): number {
    return this.#bytes.length - this.#at;
  }

  add(piece: Buffer): void {
    this.#bytes = this.#at === this.#bytes.length ? piece : Buffer.concat([this.#bytes.subarray(this.#at), piece]);
    this.#at = 0;
  }

  /** The next that is whole. Throws when it is longer than was allowed. */
  next(): Frame | undefined {
    const bytes = this.#bytes;
    const at = this.#at;
    if (at + FRAME_HEADER_BYTES > bytes.length) return this.#rest();
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    if (length > DEFAULT_FRAME_BYTES) throw tooLong(bytes, at, length);
    const end = at + FRAME_HEADER_BYTES + length;
    if (end > bytes.length) return this.#rest();
    this.#at = end;
    const streamId = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    return { type: bytes[at + 3]!, flags: bytes[at + 4]!, streamId, payload: bytes.subarray(at + FRAME_HEADER_BYTES, end) };
  }

  /** What was read is let go. */
  #rest(): undefined {
    if (this.#at === this.#bytes.length) this.#bytes = NOTHING;
    else if (this.#at > 0) this.#bytes = this.#bytes.subarray(this.#at);
    this.#at = 0;
  }
}

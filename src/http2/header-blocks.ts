import { ErrorCode, FrameFlag, type Frame, FrameType, Http2Error, unpadded } from './frames.ts';
import { type HeaderFields, type HeaderLimits, HeaderReader } from './hpack.ts';

/** A block that came in more frames than its size can explain is there to keep us busy (CVE-2024-27316 and the like). */
const MAX_FRAMES = 64;

interface UnfinishedBlock {
  streamId: number;
  parts: Buffer[];
  sizeBytes: number;
}

/** Puts header blocks together, which may come in several frames: nothing else may come between those (RFC 9113 §6.10). */
export class HeaderBlocks {
  readonly #reader: HeaderReader;
  readonly #maxBytes: number;
  #unfinished: UnfinishedBlock | undefined;
  /** Of the block that was finished last: its stream ends with it. */
  endsStream = false;

  constructor(limits: HeaderLimits) {
    this.#reader = new HeaderReader(limits);
    this.#maxBytes = limits.listBytes;
  }

  /** A block has begun, and is not over. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /** A HEADERS or CONTINUATION frame; the whole block, where this is its last. Throws where it does not belong here, or is too much. */
  push(received: Frame): Buffer | undefined {
    const isFirst = received.type === FrameType.headers;
    const isLast = (received.flags & FrameFlag.endHeaders) !== 0;
    if (isFirst === this.isUnfinished) throw new Http2Error('header frames in the wrong order');
    const part = isFirst ? unpadded(received, (received.flags & FrameFlag.priority) !== 0) : received.payload;
    if (isFirst) {
      this.endsStream = (received.flags & FrameFlag.endStream) !== 0;
      if (isLast) return part;
    }
    const block = (this.#unfinished ??= { streamId: received.streamId, parts: [], sizeBytes: 0 });
    if (block.streamId !== received.streamId) throw new Http2Error('header frames in the wrong order');
    block.sizeBytes += part.length;
    if (block.parts.push(part) > MAX_FRAMES || block.sizeBytes > this.#maxBytes) {
      throw new Http2Error('headers are too large', ErrorCode.enhanceYourCalm);
    }
    if (!isLast) return undefined;
    this.#unfinished = undefined;
    return Buffer.concat(block.parts, block.sizeBytes);
  }

  /** Throws where the block is not one. */
  read(block: Buffer): HeaderFields {
    return this.#reader.read(block);
  }

  /** Of the block that was read last: it says more than is allowed, and is not whole. */
  get isTooLarge(): boolean {
    return this.#reader.isTooLarge;
  }
}

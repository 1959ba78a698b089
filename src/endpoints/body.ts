/** The bytes of an answer, in pieces, for answers too long to be held whole. */
export interface ChunkedBody {
  readonly sizeBytes: number;
  /**
   * Each call begins anew. Pieces are about CHUNK_BYTES long, and the caller's to keep. Where it says that it has no more use for a large one when it
   * asks for the next, that is made in the same memory, which the CPU has at hand: a third of the time.
   */
  chunks(reuse?: 'reuse-large'): Iterable<Buffer>;
}

/** An answer whose making takes long: made and written slice by slice, while others are served. */
export interface PiecedBody {
  /** Each call begins anew. Pieces are small; undefined is a step of the work that made none. What is thrown in the middle cuts the answer off. */
  pieces(): Iterable<Buffer | undefined>;
}

export type Body = Buffer | ChunkedBody | PiecedBody;

export const CHUNK_BYTES = 256 * 1024;
/** See ResponseStream.write. */
const LARGE_PIECE_BYTES = 128 * 1024;

export function wholeBody(body: Body): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return 'chunks' in body ? Buffer.concat([...body.chunks()], body.sizeBytes) : Buffer.concat([...body.pieces()].filter((piece) => piece !== undefined));
}

/** The items of a list as encoded, without separators. Called with ascending indexes; what it answers with may be made on the fly. */
export interface ListItems {
  readonly count: number;
  /** Of all items together, as they are written. */
  readonly sizeBytes: number;
  bytesAt(index: number): Buffer;
  /** How many bytes at the start of `bytesAt(index)` are replaced by one `{`; 0: none. */
  skipAt(index: number): number;
}

const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;

/** `head` items, with commas between, `tail`: copied into few large pieces, since thousands of small ones cost more than the copy. */
export class JsonListBody implements ChunkedBody {
  readonly sizeBytes: number;
  readonly #head: Buffer;
  readonly #items: ListItems;
  readonly #tail: Buffer;

  constructor(head: string, items: ListItems, tail: string) {
    this.#head = Buffer.from(head);
    this.#items = items;
    this.#tail = Buffer.from(tail);
    this.sizeBytes = this.#head.length + items.sizeBytes + Math.max(0, items.count - 1) + this.#tail.length;
  }

  *chunks(reuse?: 'reuse-large'): Iterable<Buffer> {
    const items = this.#items;
    let left = this.sizeBytes;
    let chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
    let at = this.#head.copy(chunk);
    left -= at;
    for (let index = 0; index < items.count; index++) {
      const bytes = items.bytesAt(index);
      const skip = items.skipAt(index);
      const length = bytes.length - skip;
      // Room for the comma and the brace too.
      if (at + length + 2 > chunk.length) {
        if (at > 0) yield chunk.subarray(0, at);
        const isFree = reuse !== undefined && at >= LARGE_PIECE_BYTES && length + 2 <= chunk.length;
        if (!isFree) chunk = Buffer.allocUnsafe(Math.max(length + 2, Math.min(CHUNK_BYTES, left + 2)));
        at = 0;
      }
      const start = at;
      if (index > 0) chunk[at++] = COMMA;
      if (skip > 0) chunk[at++] = OPENING_BRACE;
      bytes.copy(chunk, at, skip);
      at += length;
      left -= at - start;
    }
    if (at + this.#tail.length > chunk.length) {
      if (at > 0) yield chunk.subarray(0, at);
      yield this.#tail;
      return;
    }
    at += this.#tail.copy(chunk, at);
    yield chunk.subarray(0, at);
  }
}

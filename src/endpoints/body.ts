/** The bytes of an answer, in pieces, for answers too long to be held whole. */
export interface ChunkedBody {
  readonly sizeBytes: number;
  /**
   * Each call begins anew. Pieces are about CHUNK_BYTES long, and the caller's to keep; but those from LARGE_PIECE_BYTES on may be written over when the
   * next is asked for, where the caller says that it has no more use for them: made in memory that the CPU has at hand, a list costs a tenth less.
   */
  chunks(reuse?: 'reuse'): Iterable<Buffer>;
}

export type Body = Buffer | ChunkedBody;

export const CHUNK_BYTES = 256 * 1024;
/** Far more than streams take in without asking to wait. */
const LARGE_PIECE_BYTES = CHUNK_BYTES / 2;

export function wholeBody(body: Body): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.concat([...body.chunks()], body.sizeBytes);
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

  *chunks(reuse?: 'reuse'): Iterable<Buffer> {
    const items = this.#items;
    const allocate = reuse === undefined ? Buffer.allocUnsafe : reusingAllocator();
    let first = 0;
    let held: Buffer[] = [];
    let sizeBytes = this.#head.length;
    for (let index = 0; index < items.count; index++) {
      const bytes = items.bytesAt(index);
      const skip = items.skipAt(index);
      const itemBytes = bytes.length - skip + (skip > 0 ? 1 : 0) + (index > 0 ? 1 : 0);
      if (sizeBytes + itemBytes > CHUNK_BYTES && held.length > 0) {
        yield this.#piece(first, held, sizeBytes, allocate);
        first = index;
        held = [];
        sizeBytes = 0;
      }
      held.push(bytes);
      sizeBytes += itemBytes;
    }
    yield this.#piece(first, held, sizeBytes + this.#tail.length, allocate);
  }

  /**
   * The items from `first` on, with the head before the list's first and the tail behind its last. Written from the end: what an item leaves out at
   * its start is then overwritten by what stands before it, and whole buffers are copied. A view of a part costs as much as the copy itself.
   */
  #piece(first: number, held: readonly Buffer[], sizeBytes: number, allocate: (sizeBytes: number) => Buffer): Buffer {
    const items = this.#items;
    // Room for what the first one leaves out.
    const start = held.length > 0 ? items.skipAt(first) : 0;
    const piece = allocate(start + sizeBytes);
    let at = piece.length;
    if (first + held.length === items.count) piece.set(this.#tail, (at -= this.#tail.length));
    for (let i = held.length - 1; i >= 0; i--) {
      const skip = items.skipAt(first + i);
      piece.set(held[i]!, (at -= held[i]!.length));
      at += skip;
      if (skip > 0) piece[--at] = OPENING_BRACE;
      if (first + i > 0) piece[--at] = COMMA;
    }
    if (first === 0) piece.set(this.#head, start);
    return piece.subarray(start);
  }
}

/** Gives the same memory again and again to pieces that are large. */
function reusingAllocator(): (sizeBytes: number) => Buffer {
  let memory: Buffer | undefined;
  return (sizeBytes) => {
    if (sizeBytes < LARGE_PIECE_BYTES) return Buffer.allocUnsafe(sizeBytes);
    if (memory === undefined || memory.length < sizeBytes) memory = Buffer.allocUnsafeSlow(Math.max(sizeBytes, CHUNK_BYTES + 1024));
    return memory.subarray(0, sizeBytes);
  };
}

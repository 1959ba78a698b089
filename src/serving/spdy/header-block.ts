import { constants, inflateRawSync } from 'node:zlib';
import { HEADER_DICTIONARY, HEADER_DICTIONARY_ID } from './dictionary.ts';

/** Lower-case names. Several values of one name are separated by NUL, as on the wire. */
export type SpdyHeaders = Readonly<Record<string, string>>;

const MAX_BLOCK_BYTES = 64 * 1024;
const MAX_HEADERS = 1000;
/** Deflate looks back no further. */
const WINDOW_BYTES = 32 * 1024;

/** CMF and FLG of a zlib stream with a preset dictionary (RFC 1950 §2.2), then which. */
const STREAM_START = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
STREAM_START.writeUInt32BE(HEADER_DICTIONARY_ID, 2);
/** An empty stored block: what a flush leaves, and what makes Go's reader hand out all it has. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Writes the header blocks of one direction. They are stored rather than squeezed: a handful of short words a stream is not worth a compressor's memory. */
export class HeaderWriter {
  #hasStarted = false;

  write(headers: SpdyHeaders): Buffer {
    const block = encode(headers);
    if (block.length > MAX_BLOCK_BYTES - 1) throw new Error('the headers of a SPDY stream are too long');
    const stored = Buffer.from([0, 0, 0, 0, 0]); // RFC 1951 §3.2.4: not the last block, stored; its length, and that with all bits turned
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(block.length ^ 0xffff, 3);
    const parts = this.#hasStarted ? [stored, block, FLUSH] : [STREAM_START, stored, block, FLUSH];
    this.#hasStarted = true;
    return Buffer.concat(parts);
  }
}

/**
 * Reads the header blocks of one direction. They are one zlib stream, flushed behind each block: so each can be inflated by itself, with what came before it as its
 * dictionary, and no decompressor has to be kept.
 */
export class SpdyHeaderReader {
  #window: Buffer = HEADER_DICTIONARY;
  #hasStarted = false;

  /** Throws where the block is malformed or too long. */
  read(compressed: Buffer): Record<string, string> {
    let bytes = compressed;
    if (!this.#hasStarted) {
      if (bytes.length < STREAM_START.length || (bytes[0]! & 0x0f) !== 8 || (bytes[1]! & 0x20) === 0)
        throw new Error('the header block is no zlib stream with a dictionary');
      if (bytes.readUInt32BE(2) !== HEADER_DICTIONARY_ID) throw new Error('the header block has another dictionary');
      bytes = bytes.subarray(STREAM_START.length);
      this.#hasStarted = true;
    }
    const block = inflateRawSync(bytes, { dictionary: this.#window, finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_BLOCK_BYTES });
    this.#window = Buffer.concat([this.#window, block]).subarray(-WINDOW_BYTES);
    return decode(block);
  }
}

function encode(headers: SpdyHeaders): Buffer {
  const texts = Object.entries(headers).flat();
  const bytes = Buffer.alloc(4 + texts.reduce((sum, text) => sum + 4 + Buffer.byteLength(text), 0));
  bytes.writeUInt32BE(texts.length / 2);
  let at = 4;
  for (const text of texts) {
    const length = bytes.write(text, at + 4);
    bytes.writeUInt32BE(length, at);
    at += 4 + length;
  }
  return bytes;
}

function decode(block: Buffer): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  const count = block.readUInt32BE(0);
  if (count > MAX_HEADERS) throw new Error('the header block has too many headers');
  let at = 4;
  const text = (): string => {
    const length = block.readUInt32BE(at);
    if (at + 4 + length > block.length) throw new Error('the header block is cut off');
    at += 4 + length;
    return block.toString('utf8', at - length, at);
  };
  for (let index = 0; index < count; index++) {
    const name = text().toLowerCase();
    headers[name] = text();
  }
  return headers;
}

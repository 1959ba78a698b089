import { quote } from '../util/go-quote.ts';
import type { BodyReader } from './body-reader.ts';
import { type HeaderLines, readFields } from './fields.ts';

/** Of the line before a chunk, with its extensions. */
const MAX_LINE_BYTES = 4096;
const MAX_TRAILER_BYTES = 16 * 1024;
/** What may come beside data, beyond what data explains: as Go's reader of chunks (net/http/internal/chunked.go). */
const MAX_EXCESS_BYTES = 16 * 1024;
const FAIR_LINE_BYTES = 16;

const SIZE_LINE = /^([0-9a-fA-F]{1,12})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
const CR = 0x0d;
const LF = 0x0a;

type Part = 'size' | 'data' | 'data-end' | 'trailers';

/** Reads a body in chunks (RFC 9112 §7.1). */
export class ChunkedBody implements BodyReader {
  isDone = false;
  /** Once it is done, where there are some. */
  trailers: HeaderLines | undefined;
  #part: Part = 'size';
  #remainingBytes = 0;
  /** A line that is not over; trailers up to here. */
  #text = '';
  #excessBytes = 0;

  read(bytes: Buffer, at: number, take: (data: Buffer) => void): number {
    while (at < bytes.length && !this.isDone) at = this.#part === 'data' ? this.#readData(bytes, at, take) : this.#readLine(bytes, at);
    return at;
  }

  #readData(bytes: Buffer, at: number, take: (data: Buffer) => void): number {
    const end = Math.min(bytes.length, at + this.#remainingBytes);
    this.#remainingBytes -= end - at;
    if (this.#remainingBytes === 0) this.#part = 'data-end';
    take(bytes.subarray(at, end));
    return end;
  }

  #readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(LF, at);
    const end = found === -1 ? bytes.length : found + 1;
    const limitBytes = this.#part === 'trailers' ? MAX_TRAILER_BYTES : MAX_LINE_BYTES;
    if (this.#text.length + end - at > limitBytes) throw new Error('header line too long');
    this.#text += bytes.toString('latin1', at, end);
    if (found !== -1) this.#onLine();
    return end;
  }

  #onLine(): void {
    const text = this.#text;
    if (text.charCodeAt(text.length - 2) !== CR) throw new Error('malformed chunked encoding');
    if (this.#part === 'trailers') return this.#onTrailerLine(text);
    this.#text = '';
    if (this.#part === 'size') return this.#onSize(text.slice(0, -2));
    if (text.length !== 2) throw new Error('malformed chunked encoding');
    this.#part = 'size';
  }

  #onSize(line: string): void {
    const digits = SIZE_LINE.exec(line)?.[1];
    if (digits === undefined) throw new Error(`invalid chunk size line ${quote(line.slice(0, FAIR_LINE_BYTES))}`);
    this.#remainingBytes = Number.parseInt(digits, 16);
    this.#excessBytes = Math.max(0, this.#excessBytes + line.length + 2 - FAIR_LINE_BYTES - 2 * this.#remainingBytes);
    if (this.#excessBytes > MAX_EXCESS_BYTES) throw new Error('chunked encoding contains too much non-data');
    this.#part = this.#remainingBytes === 0 ? 'trailers' : 'data';
  }

  /** All trailers are kept until the empty line that ends them. */
  #onTrailerLine(text: string): void {
    if (text !== '\r\n' && !text.endsWith('\r\n\r\n')) return;
    this.isDone = true;
    this.#text = '';
    if (text !== '\r\n') this.trailers = readFields(text.slice(0, -4), 0);
  }
}

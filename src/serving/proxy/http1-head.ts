import type { OutgoingHttpHeaders } from 'node:http';
import { quote } from '../../util/field-errors.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { addField, checkRequestLine, eachLine, fieldName, sendable } from './fields.ts';

/* The heads of HTTP/1.1 (RFC 9112 §3 to §6). Lines end in CRLF, nothing is folded, and nothing is guessed. */

/** As Go's http.DefaultMaxHeaderBytes. */
export const MAX_HEAD_BYTES = 1 << 20;
const VERSION = 'HTTP/1.';
const HEAD_END = '\r\n\r\n';
const FIRST_BUFFER_BYTES = 4096;

/** Finds the end of heads in what arrives. */
export class HeadReader {
  /** What has come of a head that is not over, with room for more. */
  #pending: Buffer | undefined;
  #pendingBytes = 0;

  /** The head's text without the empty line, and where behind `start` it ends; undefined where more must come. Throws where it is too long. */
  read(bytes: Buffer, start: number): { text: string; end: number } | undefined {
    const pendingBytes = this.#pendingBytes;
    if (pendingBytes === 0) {
      const found = bytes.indexOf(HEAD_END, start, 'latin1');
      if (found >= 0 && found - start <= MAX_HEAD_BYTES) return { text: bytes.toString('latin1', start, found), end: found + HEAD_END.length };
    }
    this.#keep(bytes, start);
    const found = this.#pending!.subarray(0, this.#pendingBytes).indexOf(HEAD_END, Math.max(0, pendingBytes - HEAD_END.length), 'latin1');
    if (found > MAX_HEAD_BYTES || (found === -1 && this.#pendingBytes > MAX_HEAD_BYTES))
      throw new Error(`net/http: server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`);
    if (found === -1) return this.#expectMore();
    const text = this.#pending!.toString('latin1', 0, found);
    this.#pending = undefined;
    this.#pendingBytes = 0;
    return { text, end: start + found + HEAD_END.length - pendingBytes };
  }

  /** What cannot become a head is not waited for. */
  #expectMore(): undefined {
    const beginning = this.#pending!.toString('latin1', 0, Math.min(this.#pendingBytes, MAX_SHOWN_CHARACTERS));
    if (!beginning.startsWith(VERSION) && !VERSION.startsWith(beginning)) throw malformed(beginning);
  }

  /** Doubles its room where there is not enough: a head that comes byte by byte is not copied as often. */
  #keep(bytes: Buffer, start: number): void {
    const neededBytes = this.#pendingBytes + bytes.length - start;
    if (!this.#pending || neededBytes > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BUFFER_BYTES, neededBytes * 2));
      this.#pending?.copy(larger, 0, 0, this.#pendingBytes);
      this.#pending = larger;
    }
    bytes.copy(this.#pending, this.#pendingBytes, start);
    this.#pendingBytes = neededBytes;
  }
}

export interface ResponseHead {
  status: number;
  /** Of HTTP/1. */
  minorVersion: number;
  headers: ResponseHeaders;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const MAX_SHOWN_CHARACTERS = 200;

const malformed = (text: string): Error => new Error(`malformed HTTP response ${quote(text.slice(0, MAX_SHOWN_CHARACTERS).split(/\r?\n/, 1)[0]!)}`);

/** Throws an Error in Go's words where it is none. */
export function parseHead(text: string): ResponseHead {
  const end = endOfLine(text, 0);
  const line = STATUS_LINE.exec(text.slice(0, end));
  if (!line) throw malformed(text);
  return { status: Number(line[2]), minorVersion: Number(line[1]), headers: parseFields(text, end + 2) };
}

/** Field lines from `start` on: of a head, or of trailers. */
export function parseFields(text: string, start: number): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (let at = start; at < text.length;) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(':', at);
    const name = colon > at && colon < end ? fieldName(text.slice(at, colon)) : undefined;
    if (name === undefined) throw new Error(`malformed MIME header line: ${quote(text.slice(at, Math.min(end, at + MAX_SHOWN_CHARACTERS)))}`);
    addField(headers, name, trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return headers;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\r\n', at);
  return end === -1 ? text.length : end;
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** Without blanks and tabs at its ends: they alone, since a byte of a longer character may look like another kind of blank. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

export interface RequestHead {
  method: string;
  path: string;
  host: string;
  headers: OutgoingHttpHeaders;
  /** Said of the body in place of what the headers say. */
  framing: string;
}

/** One character a byte. Throws where it would not be one head. */
export function requestHead({ method, path, host, headers, framing }: RequestHead): string {
  checkRequestLine(method, path);
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${sendable('host', host)}\r\n`;
  eachLine(headers, (name, value) => {
    if (name !== 'host' && name !== 'content-length') text += `${name}: ${value}\r\n`;
  });
  return `${text}${framing}\r\n`;
}

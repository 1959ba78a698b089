import type { OutgoingHttpHeaders } from 'node:http';
import { endOfLine, readFields } from '../../http1/fields.ts';
import type { HeadRules } from '../../http1/head-reader.ts';
import { quote } from '../../util/go-quote.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { checkRequestLine, eachLine, headersOf, sendable } from './fields.ts';

/* The heads of HTTP/1.1 (RFC 9112 §3 to §6), as they come from a backend and go to it. */

/** As Go's http.DefaultMaxHeaderBytes. */
export const MAX_HEAD_BYTES = 1 << 20;
const VERSION = 'HTTP/1.';

export const RESPONSE_HEAD_RULES: HeadRules = {
  maxBytes: MAX_HEAD_BYTES,
  tooLong: () => new Error(`net/http: server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`),
  checkBeginning(beginning) {
    if (!beginning.startsWith(VERSION) && !VERSION.startsWith(beginning)) throw malformed(beginning);
  },
};

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
  return { status: Number(line[2]), minorVersion: Number(line[1]), headers: headersOf(readFields(text, end + 2)) };
}

export interface OutgoingRequestHead {
  method: string;
  path: string;
  host: string;
  headers: OutgoingHttpHeaders;
  /** Said of the body in place of what the headers say. */
  framing: string;
}

/** One character a byte. Throws where it would not be one head. */
export function requestHead({ method, path, host, headers, framing }: OutgoingRequestHead): string {
  checkRequestLine(method, path);
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${sendable('host', host)}\r\n`;
  eachLine(headers, (name, value) => {
    if (name !== 'host' && name !== 'content-length') text += `${name}: ${value}\r\n`;
  });
  return `${text}${framing}\r\n`;
}

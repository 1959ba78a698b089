import { TOKEN } from '../http1/fields.ts';
import { statusText } from '../http1/status-text.ts';
import { quote } from '../util/go-quote.ts';
import type { ResponseHeaders } from './exchange.ts';
import { httpDate, safeValue } from './headers.ts';

/* What we say in HTTP/1.1, a character a byte. */

/** The head of an answer, with its date. `contentLength`: said where the headers do not say it themselves. `framing`: more lines, which are ours alone to say. */
export function answerHead(status: number, headers: ResponseHeaders, contentLength: number | undefined, framing: string): string {
  let text = `HTTP/1.1 ${status} ${statusText(status)}\r\n${fieldLines(headers)}`;
  if (contentLength !== undefined && headers['content-length'] === undefined) text += `Content-Length: ${contentLength}\r\n`;
  if (headers['date'] === undefined) text += `Date: ${httpDate()}\r\n`;
  return `${text}${framing}\r\n`;
}

/** Of a head, or of trailers. */
export function fieldLines(headers: ResponseHeaders): string {
  let text = '';
  for (const name in headers) {
    const value = headers[name]!;
    const begun = lineBeginning(name);
    if (typeof value === 'string') text += `${begun}${safeValue(value)}\r\n`;
    else if (typeof value === 'number') text += `${begun}${value}\r\n`;
    else for (const line of value) text += `${begun}${safeValue(line)}\r\n`;
  }
  return text;
}

const MAX_KNOWN_NAMES = 1000;
/** Longer ones are not remembered: a backend may send any. */
const MAX_KNOWN_CHARACTERS = 64;
/** By the name in lower case. */
const knownBeginnings = new Map<string, string>();

/** `Content-Type: ` and its like, in the form that Go writes. */
function lineBeginning(name: string): string {
  const known = knownBeginnings.get(name);
  if (known !== undefined) return known;
  if (!TOKEN.test(name)) throw new Error(`net/http: invalid header field name ${quote(name)}`);
  const beginning = `${name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())}: `;
  if (name.length > MAX_KNOWN_CHARACTERS) return beginning;
  if (knownBeginnings.size >= MAX_KNOWN_NAMES) knownBeginnings.clear();
  knownBeginnings.set(name, beginning);
  return beginning;
}

/** A larger chunk may be changed once it has left, and written again. */
const MAX_SHARED_BYTES = 64 * 1024;
let lastChunk: Buffer | undefined;
let lastFrame: Buffer | undefined;

/** A chunk with its frame around it. The last one is kept: a watch event goes to all its watchers in a row. */
export function chunkFrame(chunk: Buffer): Buffer {
  if (chunk === lastChunk) return lastFrame!;
  const frame = framed(chunk);
  if (chunk.length <= MAX_SHARED_BYTES) {
    lastFrame = frame;
    lastChunk = chunk;
  }
  return frame;
}

function framed(chunk: Buffer): Buffer {
  const size = `${chunk.length.toString(16)}\r\n`;
  const frame = Buffer.allocUnsafe(size.length + chunk.length + 2);
  frame.write(size, 0, 'latin1');
  chunk.copy(frame, size.length);
  frame.write('\r\n', size.length + chunk.length, 'latin1');
  return frame;
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** The end of a body in chunks. */
export const lastChunkFrame = (trailers: ResponseHeaders | undefined): Buffer =>
  trailers === undefined ? LAST_CHUNK : Buffer.from(`0\r\n${fieldLines(trailers)}\r\n`, 'latin1');

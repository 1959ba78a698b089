import { quote } from '../util/go-quote.ts';
import { ownCopy } from '../util/own-copy.ts';

/* Header fields as HTTP/1.1 writes them (RFC 9110 §5, RFC 9112 §5). Lines end in CRLF, nothing is folded, and nothing is guessed: what is not a field might be read as two. */

/** `name, value, name, value, …`: names in lower case, values a character a byte. */
export type HeaderLines = string[];

export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What no value may hold. */
export const UNSAFE_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
/** So long that no number loses anything. */
export const LENGTH = /^\d{1,15}$/;

const MAX_KNOWN_NAMES = 1000;
/** Longer ones are not remembered. */
const MAX_KNOWN_CHARACTERS = 64;
const MAX_SHOWN_CHARACTERS = 200;
/** By the name as it was written, in lower case. */
const knownNames = new Map<string, string>();

/** A field's name in lower case; undefined where it is none. */
export function fieldName(written: string): string | undefined {
  const known = knownNames.get(written);
  if (known !== undefined) return known;
  if (!TOKEN.test(written)) return undefined;
  if (written.length > MAX_KNOWN_CHARACTERS) return written.toLowerCase();
  const key = ownCopy(written);
  const name = key.toLowerCase();
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
  knownNames.set(key, name);
  return name;
}

/** Field lines from `start` on: of a head, or of trailers. Throws an Error in Go's words where one is none. */
export function readFields(text: string, start: number): HeaderLines {
  const fields: HeaderLines = [];
  for (let at = start; at < text.length;) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(':', at);
    const name = colon > at && colon < end ? fieldName(text.slice(at, colon)) : undefined;
    const value = trimmed(text, colon + 1, end);
    if (name === undefined || UNSAFE_VALUE.test(value)) throw malformedLine(text.slice(at, end));
    fields.push(name, value);
    at = end + 2;
  }
  return fields;
}

export const malformedLine = (line: string): Error => new Error(`malformed MIME header line: ${quote(line.slice(0, MAX_SHOWN_CHARACTERS))}`);

/** Where the line at `at` ends, without its CRLF. */
export function endOfLine(text: string, at: number): number {
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

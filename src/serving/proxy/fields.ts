import type { OutgoingHttpHeaders } from 'node:http';
import { type HeaderLines, LENGTH, UNSAFE_VALUE, fieldName } from '../../http1/fields.ts';
import { quote } from '../../util/go-quote.ts';
import type { ResponseHeaders } from '../exchange.ts';

/* Header fields, as they come from a backend and go to it (RFC 9110 §5). Both are held to the rules: what is not a field might be read as two. */

/** Of several, the first counts; of all others, all do. */
const SINGLE = new Set([
  'age',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
  'content-location',
  'content-range',
]);

/** Adds a field to an answer's headers; name and value may be there. Throws an Error in Go's words where they may not beside those before. */
export function addField(headers: ResponseHeaders, name: string, value: string): void {
  if (name === 'set-cookie') headers[name] = [...((headers[name] as string[] | undefined) ?? []), value];
  else if (!Object.hasOwn(headers, name)) headers[name] = value;
  else if (name === 'content-length' && headers[name] !== value)
    throw new Error(`http: message cannot contain multiple Content-Length headers; got [${quote(String(headers[name]))} ${quote(value)}]`);
  else if (!SINGLE.has(name)) headers[name] = `${String(headers[name])}, ${value}`;
}

/** An answer's headers, or its trailers. */
export function headersOf(fields: HeaderLines): ResponseHeaders {
  const headers: ResponseHeaders = {};
  for (let index = 0; index < fields.length; index += 2) addField(headers, fields[index]!, fields[index + 1]!);
  return headers;
}

/** What `content-length` says; undefined where it says nothing. Throws where it is no number. */
export function lengthIn(headers: ResponseHeaders): number | undefined {
  const length = headers['content-length'];
  if (length === undefined) return undefined;
  if (!LENGTH.test(String(length))) throw new Error(`bad Content-Length ${quote(String(length))}`);
  return Number(length);
}

/** Every line of a request's headers, names in lower case. Throws where a line would not be one, in Go's words. */
export function eachLine(headers: OutgoingHttpHeaders, line: (name: string, value: string) => void): void {
  for (const written in headers) {
    const value = headers[written];
    if (value === undefined) continue;
    const name = fieldName(written);
    if (name === undefined) throw new Error(`net/http: invalid header field name ${quote(written)}`);
    if (Array.isArray(value)) for (const one of value) line(name, sendable(name, one));
    else line(name, sendable(name, typeof value === 'string' ? value : String(value)));
  }
}

const UNSAFE_TARGET = /[^\x21-\x7e\x80-\xff]/;

/** Throws where method and path would not be those of one request. */
export function checkRequestLine(method: string, path: string): void {
  if (fieldName(method) === undefined) throw new Error(`net/http: invalid method ${quote(method)}`);
  if (path === '' || UNSAFE_TARGET.test(path)) throw new Error(`invalid URL path ${quote(path)}`);
}

/** A value that may be written as it is. */
export function sendable(name: string, value: string): string {
  if (UNSAFE_VALUE.test(value)) throw new Error(`net/http: invalid header field value for ${quote(name)}`);
  return value;
}

/** The length of a body that is sent: undefined where it is not known before its end. */
export function declaredLength({ 'content-length': length }: OutgoingHttpHeaders): number | undefined {
  return length !== undefined && LENGTH.test(String(length)) ? Number(length) : undefined;
}

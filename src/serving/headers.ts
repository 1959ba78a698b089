import { isUtf8 } from 'node:buffer';
import type { ResponseHeaders } from './exchange.ts';

/** Statuses whose answers have neither a body nor its length (RFC 9110 §6.4.1). */
export const hasNoBody = (status: number): boolean => status === 204 || status === 304 || status < 200;

/** What an answer says of its body's length. To a HEAD, nothing where the body that a GET would have is not known. */
export const lengthOf = (method: string, status: number, body: unknown, sizeBytes: number): number | undefined =>
  hasNoBody(status) || (method === 'HEAD' && body === undefined) ? undefined : sizeBytes;

const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

/** A value as it may be written: text in UTF-8, as Go sends it, and a blank for every character that could end a line or a field. */
export function safeValue(value: string): string {
  if (!UNSAFE.test(value)) return value;
  return Buffer.from(value, 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
}

/** Every line of one header among `name, value, name, value, …`. Names of users come in UTF-8, which Node has read a byte a character. */
export function linesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() === name) values.push(fromUtf8(rawHeaders[index + 1]!));
  }
  return values;
}

function fromUtf8(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

/** `name, value, name, value, …` with the body's length, for HTTP/1.1. */
export function flatHeaders(headers: ResponseHeaders, contentLength: number | undefined): (string | number | string[])[] {
  const flat: (string | number | string[])[] = [];
  for (const name in headers) {
    const value = headers[name]!;
    if (Array.isArray(value)) for (const line of value) flat.push(name, safeValue(line));
    else flat.push(name, typeof value === 'string' ? safeValue(value) : value);
  }
  if (contentLength !== undefined && headers['content-length'] === undefined) flat.push('content-length', contentLength);
  return flat;
}

let dateSecond = 0;
let dateText = '';

/** Now, as answers date themselves. */
export function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

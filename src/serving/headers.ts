import { isUtf8 } from 'node:buffer';

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

/** Every line of one header among `name, value, name, value, …`, names in lower case. Names of users come in UTF-8, which was read a byte a character. */
export function linesOf(fields: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) values.push(fromUtf8(fields[index + 1]!));
  }
  return values;
}

function fromUtf8(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
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

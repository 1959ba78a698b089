import type { Json } from './json-types.ts';

/** As Go's encoder writes it, HTML characters escaped; integers beyond 2^53 exact. No newline at the end. */
export const stringifyJson = (value: unknown): string => escapeHtml(write(value, undefined));

/** The same with HTML characters as they are. */
export const stringifyUnescaped = (value: unknown): string => write(value, undefined);

/** As `?pretty=true` answers: two spaces a level. */
export const prettyJson = (value: unknown, indent = 2): string => escapeHtml(write(value, indent));

/** The same, for the lines behind the first to begin with `indent`. Line ends stand between values only: those in strings are escaped. */
export const prettyJsonAt = (value: unknown, indent: string): string => prettyJson(value).replaceAll('\n', `\n${indent}`);

const HTML = /[<>&\u2028\u2029]/g;

/** These characters can only stand inside strings, so the text can be escaped after it was written. */
const escapeHtml = (text: string): string => (hasHtml(text) ? text.replace(HTML, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : text);

/** One look for each takes a tenth of the time of one expression for all. */
const hasHtml = (text: string): boolean => text.includes('<') || text.includes('>') || text.includes('&') || text.includes('\u2028') || text.includes('\u2029');

function write(value: unknown, indent: number | undefined): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // JSON.stringify knows no bigint.
    if (!(error instanceof TypeError)) throw error;
    return writeExact(value as Json, indent, '\n');
  }
}

function writeExact(value: Json, indent: number | undefined, newline: string): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = indent === undefined ? '' : newline + ' '.repeat(indent);
  const outer = indent === undefined ? '' : newline;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[${inner}${value.map((item) => writeExact(item, indent, inner)).join(`,${inner}`)}${outer}]`;
  }
  const entries = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  if (entries.length === 0) return '{}';
  const colon = indent === undefined ? ':' : ': ';
  return `{${inner}${entries.map(([key, item]) => JSON.stringify(key) + colon + writeExact(item, indent, inner)).join(`,${inner}`)}${outer}}`;
}

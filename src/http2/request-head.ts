import { withLine } from '../net/header-lines.ts';
import type { HeaderFields } from './hpack.ts';

/** What a block of headers asks for. */
export interface Http2RequestHead {
  method: string;
  /** Path and query; `/` where the method has none. */
  target: string;
  /** Lower-case names, without HTTP/2's own; lines of one name joined. The owner's to change. */
  headers: Record<string, string>;
  /** What the body has to come to; undefined where nothing is said of it. */
  contentLength: number | undefined;
}

/** What belongs to one connection has no place here (RFC 9113 §8.2.2). */
const CONNECTION_FIELDS = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex
const FORBIDDEN_IN_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const FORBIDDEN_IN_TARGET = /[\0-\x20\x7f]/;
const DIGITS = /^[0-9]{1,15}$/;

/** Undefined where the block is no request (RFC 9113 §8.1.1). */
export function readRequestHead(fields: HeaderFields): Http2RequestHead | undefined {
  const own: Record<string, string | undefined> = { ':method': undefined, ':scheme': undefined, ':path': undefined, ':authority': undefined };
  let index = 0;
  for (; index < fields.length && fields[index]!.charCodeAt(0) === 0x3a; index += 2) {
    const name = fields[index]!;
    if (!Object.hasOwn(own, name) || own[name] !== undefined) return undefined;
    own[name] = fields[index + 1]!;
  }
  const headers = readHeaders(fields, index);
  if (!headers || !isWhole(own)) return undefined;
  if (own[':authority'] !== undefined) headers['host'] = own[':authority'];
  const length = headers['content-length'];
  if (length !== undefined && !DIGITS.test(length)) return undefined;
  return { method: own[':method']!, target: own[':path'] ?? '/', headers, contentLength: length === undefined ? undefined : Number(length) };
}

/** All that a request must have: a method, and a scheme and a path where it is not CONNECT, which has an authority in their place (§8.3.1, §8.5). */
function isWhole({ ':method': method, ':scheme': scheme, ':path': path, ':authority': authority }: Record<string, string | undefined>): boolean {
  if (method === undefined || !METHOD.test(method)) return false;
  if (authority !== undefined && FORBIDDEN_IN_TARGET.test(authority)) return false;
  if (method === 'CONNECT') return authority !== undefined && scheme === undefined && path === undefined;
  if ((scheme !== 'https' && scheme !== 'http') || path === undefined || FORBIDDEN_IN_TARGET.test(path)) return false;
  return path.startsWith('/') || (path === '*' && method === 'OPTIONS');
}

/** Whether what follows a body is what may (§8.1): headers, and none of HTTP/2's own. */
export function areTrailers(fields: HeaderFields): boolean {
  for (let index = 0; index < fields.length; index += 2) if (!isAllowed(fields[index]!, fields[index + 1]!)) return false;
  return true;
}

const isAllowed = (name: string, value: string): boolean =>
  NAME.test(name) && !FORBIDDEN_IN_VALUE.test(value) && !CONNECTION_FIELDS.has(name) && (name !== 'te' || value === 'trailers');

function readHeaders(fields: HeaderFields, start: number): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let index = start; index < fields.length; index += 2) {
    const name = fields[index]!;
    const value = fields[index + 1]!;
    if (!isAllowed(name, value)) return undefined;
    // Of all objects, this one has what `constructor` names.
    const before: unknown = headers[name];
    if (typeof before !== 'string') headers[name] = value;
    else if (name === 'content-length' && before !== value) return undefined;
    else headers[name] = withLine(name, before, value);
  }
  return headers;
}

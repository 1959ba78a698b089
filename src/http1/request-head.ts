import type { IncomingHttpHeaders } from 'node:http';
import { quote } from '../util/go-quote.ts';
import { withLine } from '../net/header-lines.ts';
import { type HeaderLines, LENGTH } from './fields.ts';
import { statusText } from './status-text.ts';

/* The heads of requests (RFC 9112 §3, §5, §6), held to Go's rules where they are stricter than the RFC's and to the RFC's where they are stricter than Go's. */

/** A request that is none, and what its client is told: Go's server's words (net/http/server.go). The connection ends. */
export class BadRequest extends Error {
  readonly status: number;
  /** Behind the status, and in the body. */
  readonly reason: string;
  /** In place of the status in the body. */
  readonly body: string;

  constructor(message: string, status = 400, reason = '', body = '') {
    super(message);
    this.status = status;
    this.reason = reason === '' ? `${status} ${statusText(status)}` : `${status} ${statusText(status)}: ${reason}`;
    this.body = body || this.reason;
  }
}

export interface Http1RequestHead {
  method: string;
  /** Path and query; the authority of CONNECT. */
  target: string;
  /** Of HTTP/1. */
  minorVersion: 0 | 1;
  /** Lower-case names; lines of one name joined. The owner's to change. */
  headers: IncomingHttpHeaders;
  fields: HeaderLines;
  /** Of the body; Infinity for one in chunks. */
  bodyBytes: number;
  /** Whether the client would send another request behind this one. */
  isKept: boolean;
  /** It asks for another protocol: what follows is not HTTP/1.1, if it is let. */
  isUpgrade: boolean;
}

export interface HeadLimits {
  headerBytes: number;
  headerCount: number;
}

export const tooLarge = (message: string): BadRequest => new BadRequest(message, 431);

const MAX_SHOWN_CHARACTERS = 200;
const malformed = (what: string, text: string): BadRequest => new BadRequest(`malformed ${what} ${quote(text.slice(0, MAX_SHOWN_CHARACTERS))}`);

/** What of a head was parsed. */
export interface UncheckedHead {
  method: string;
  target: string;
  /** `1.1` */
  version: string;
  fields: HeaderLines;
}

/** The rules that llhttp does not have. Throws BadRequest. */
export function checkedHead({ method, target, version, fields }: UncheckedHead, { headerCount }: HeadLimits): Http1RequestHead {
  if (version !== '1.1' && version !== '1.0') throw unsupportedVersion(version);
  if (fields.length > 2 * headerCount) throw tooLarge('too many header lines');
  const minorVersion = version === '1.1' ? 1 : 0;
  const headers = joinedHeaders(fields);
  const { connection } = headers;
  checkHost(method, minorVersion, headers.host);
  return {
    method,
    target: originForm(method, target),
    minorVersion,
    headers,
    fields,
    bodyBytes: bodyBytesOf(minorVersion, headers),
    isKept: minorVersion === 1 ? !hasToken(connection, 'close') : hasToken(connection, 'keep-alive') && !hasToken(connection, 'close'),
    isUpgrade: method === 'CONNECT' || (headers.upgrade !== undefined && hasToken(connection, 'upgrade')),
  };
}

export const unsupportedVersion = (version: string): BadRequest =>
  new BadRequest(`unsupported protocol version ${version}`, 505, 'unsupported protocol version');

const UNSAFE_TARGET = /[^\x21-\x7e\x80-\xff]/;
const ABSOLUTE = /^https?:\/\/[^/?]*/i;

/** A proxy's `GET https://host/path` asks for `/path` (RFC 9112 §3.2). */
function originForm(method: string, target: string): string {
  if (UNSAFE_TARGET.test(target)) throw malformed('request target', target);
  if (target.charCodeAt(0) === 0x2f || method === 'CONNECT' || (target === '*' && method === 'OPTIONS')) return target;
  const authority = ABSOLUTE.exec(target);
  if (!authority) throw malformed('request target', target);
  const path = target.slice(authority[0].length);
  return path.startsWith('/') ? path : `/${path}`;
}

/** Of which a second line might make two requests of one, or one of two. */
const refuseSecond: Readonly<Record<string, (before: string, value: string) => void>> = {
  host() {
    throw new BadRequest('too many Host headers');
  },
  'content-length'(before, value) {
    if (before !== value) throw new BadRequest(`http: message cannot contain multiple Content-Length headers; got [${quote(before)} ${quote(value)}]`);
  },
  'transfer-encoding'() {
    throw unsupportedEncoding('too many transfer encodings');
  },
};

function joinedHeaders(fields: HeaderLines): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]!;
    const value = fields[index + 1]!;
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (name === 'set-cookie') headers[name] = [...(headers[name] ?? []), value];
    else if (typeof before !== 'string') headers[name] = value;
    else if (Object.hasOwn(refuseSecond, name)) refuseSecond[name]!(before, value);
    else headers[name] = withLine(name, before, value);
  }
  return headers;
}

const HOST = /^[!$%&'()*+,\-.0-9:;=@A-Z[\]_a-z~]*$/;

function checkHost(method: string, minorVersion: number, host: string | undefined): void {
  if (host === undefined) {
    if (minorVersion === 1 && method !== 'CONNECT') throw new BadRequest('missing required Host header', 400, 'missing required Host header');
  } else if (!HOST.test(host)) throw new BadRequest('malformed Host header', 400, 'malformed Host header');
}

const unsupportedEncoding = (message: string): BadRequest => new BadRequest(message, 501, '', 'Unsupported transfer encoding');

/** Of two ways to say where a body ends, others may follow the other one: a message with both is refused, as one that may not have either. */
function bodyBytesOf(minorVersion: number, headers: IncomingHttpHeaders): number {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (length !== undefined && !LENGTH.test(length)) throw new BadRequest(`bad Content-Length ${quote(length)}`);
  if (encoding === undefined) return length === undefined ? 0 : Number(length);
  if (encoding.toLowerCase() !== 'chunked') throw unsupportedEncoding(`unsupported transfer encoding: ${quote(encoding)}`);
  if (length !== undefined || minorVersion === 0) throw new BadRequest('chunks where there may be none');
  return Infinity;
}

function hasToken(list: string | undefined, token: string): boolean {
  if (list === undefined) return false;
  if (list.length === token.length) return list.toLowerCase() === token;
  return list.includes(',') && list.split(',').some((element) => element.trim().toLowerCase() === token);
}

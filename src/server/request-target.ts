/**
 * A request's target, taken apart without a URL object: this runs for every request. What `firstQueryValue` says of a query agrees with
 * `parseQuery`, which endpoints read: authorization must not see another request than the one that is served.
 */
export interface RequestTarget {
  /** Percent-encoded as sent. */
  path: string;
  /** Without the question mark; '' where there is none. */
  query: string;
}

const SLASH = 47;

export function splitTarget(target: string): RequestTarget {
  const local = target.charCodeAt(0) === SLASH ? target : withoutOrigin(target);
  const end = local.indexOf('?');
  return end < 0 ? { path: local, query: '' } : { path: local.slice(0, end), query: local.slice(end + 1) };
}

/** Proxies send `GET http://host/path`: absolute-form, RFC 9112 §3.2.2. */
function withoutOrigin(target: string): string {
  const scheme = target.indexOf('://');
  if (scheme < 0) return target;
  const path = target.indexOf('/', scheme + 3);
  return path < 0 ? '/' : target.slice(path);
}

/** A query's parameters as Go's url.ParseQuery reads them: a pair with a malformed escape or a semicolon is none. */
export function parseQuery(query: string): URLSearchParams {
  const wellFormed = isMalformed(query) ? query.split('&').filter((pair) => !isMalformed(pair)) : [query];
  return new URLSearchParams(wellFormed.join('&'));
}

const MALFORMED = /;|%(?![0-9A-Fa-f]{2})/;
const isMalformed = (text: string): boolean => MALFORMED.test(text);

/** The first value of a query parameter, decoded; undefined where there is none. */
export function firstQueryValue(query: string, name: string): string | undefined {
  if (!query.includes(name) && !query.includes('%') && !query.includes('+')) return undefined;
  let start = 0;
  while (start <= query.length) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    const value = valueOfPair(query, start, end, name);
    if (value !== undefined) return value;
    start = end + 1;
  }
  return undefined;
}

function valueOfPair(query: string, start: number, end: number, name: string): string | undefined {
  const keyEnd = endOfKey(query, start, end, name);
  if (keyEnd < 0 || isMalformed(query.slice(keyEnd, end))) return undefined;
  return keyEnd === end ? '' : decodeFormText(query.slice(keyEnd + 1, end));
}

/**
 * Where the pair's key ends, where that is `name`, however it is escaped; -1 where it is another. It looks no further than the first difference: a query may
 * have thousands of pairs, and every name is looked for in all of them. Names are ASCII without spaces, so that a plus sign is always a difference.
 */
function endOfKey(query: string, start: number, end: number, name: string): number {
  let at = start;
  for (let index = 0; index < name.length; index++) {
    if (at >= end) return -1;
    let code = query.charCodeAt(at);
    let length = 1;
    if (code === PERCENT && at + 2 < end && isHexDigit(query.charCodeAt(at + 1)) && isHexDigit(query.charCodeAt(at + 2))) {
      code = Number.parseInt(query.slice(at + 1, at + 3), 16);
      length = 3;
    }
    if (code !== name.charCodeAt(index)) return -1;
    at += length;
  }
  return at === end || query.charCodeAt(at) === EQUALS ? at : -1;
}

const PERCENT = 37;
const EQUALS = 61;

const isHexDigit = (code: number): boolean => (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);

function decodeFormText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  return new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v')!;
}

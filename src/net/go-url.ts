import { quote } from '../util/go-quote.ts';

/** A URL as Go's net/url takes it apart: more is let in than WHATWG's parser would, and nothing is rewritten. */
export interface GoUrl {
  scheme: string;
  /** User information as it is written; undefined where there is none. */
  user: string | undefined;
  /** With the port. */
  host: string;
  path: string;
  /** Without the question mark. */
  query: string;
  /** Unescaped, without the number sign. */
  fragment: string;
}

class UrlError extends Error {}

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const USER_INFO = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const HOST = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]*$/u;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})[^]{0,2}/;

/** The parts, or what Go's url.Parse says of the text. */
export function parseGoUrl(text: string): GoUrl | { error: string } {
  const hash = text.indexOf('#');
  const body = hash === -1 ? text : text.slice(0, hash);
  const url = orError(body, () => parseBody(body));
  if (hash === -1 || 'error' in url) return 'error' in url ? url : { ...url, fragment: '' };
  return orError(text, () => ({ ...url, fragment: unescape(text.slice(hash + 1)) }));
}

/** The same for Go's url.ParseRequestURI: the URL must be absolute or a path, and a number sign begins no fragment. */
export function parseGoRequestUri(text: string): GoUrl | { error: string } {
  return orError(text, () => {
    if (text === '') throw new UrlError('empty url');
    if (!/^[/:]/.test(text) && !SCHEME.test(text)) throw new UrlError('invalid URI for request');
    return { ...parseBody(text), fragment: '' };
  });
}

function orError<R>(shown: string, parse: () => R): R | { error: string } {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return { error: `parse ${quote(shown)}: ${error.message}` };
  }
}

function parseBody(text: string): Omit<GoUrl, 'fragment'> {
  // oxlint-disable-next-line no-control-regex -- what Go refuses
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new UrlError('net/url: invalid control character in URL');
  if (text.startsWith(':')) throw new UrlError('missing protocol scheme');
  const scheme = SCHEME.exec(text)?.[0].slice(0, -1).toLowerCase() ?? '';
  const rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = rest.indexOf('?');
  const path = mark === -1 ? rest : rest.slice(0, mark);
  const query = mark === -1 ? '' : rest.slice(mark + 1);
  if (!path.startsWith('/')) {
    if (scheme !== '') return { scheme, user: undefined, host: '', path: '', query };
    // Otherwise it could be taken for a scheme.
    if (path.split('/')[0]!.includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  }
  if (!path.startsWith('//') || (scheme === '' && path.startsWith('///'))) return { scheme, user: undefined, host: '', path: unescape(path), query };
  const slash = path.indexOf('/', 2);
  const authority = path.slice(2, slash === -1 ? undefined : slash);
  return { scheme, ...parseAuthority(authority), path: unescape(slash === -1 ? '' : path.slice(slash)), query };
}

function parseAuthority(authority: string): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at === -1) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!USER_INFO.test(user)) throw new UrlError('net/url: invalid userinfo');
  unescape(user);
  return { user, host };
}

function parseHost(host: string): string {
  const bracket = host.indexOf('[');
  if (bracket === 0) {
    const close = host.lastIndexOf(']');
    if (close === -1) throw new UrlError("missing ']' in host");
    checkPort(host.slice(close + 1));
  } else {
    const colon = host.lastIndexOf(':');
    if (colon !== -1) checkPort(host.slice(colon));
  }
  const strange = [...host].find((char) => !HOST.test(char));
  if (strange !== undefined) throw new UrlError(`invalid character ${quote(strange)} in host name`);
  return unescape(host);
}

/** `:80`, `:`, or nothing. */
function checkPort(port: string): void {
  if (!/^(:[0-9]*)?$/.test(port)) throw new UrlError(`invalid port ${quote(port)} after host`);
}

function unescape(text: string): string {
  const bad = BAD_ESCAPE.exec(text);
  if (bad) throw new UrlError(`invalid URL escape ${quote(bad[0])}`);
  if (!text.includes('%')) return text;
  const bytes = text.split(/(%[0-9a-fA-F]{2})/).map((part) => (part.startsWith('%') ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)));
  return Buffer.concat(bytes).toString();
}

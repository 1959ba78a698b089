import { parseGoRequestUri, parseGoUrl, type GoUrl } from '../../net/go-url.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { BOOL, STRING, listType, mapType, structType } from '../types.ts';
import { ArrayList, CelError, CelObject, EntryMap, noSuchOverload, type CelValue } from '../values.ts';

/** URLs as Go's net/url takes them apart (apiserver/pkg/cel/library/urls.go). */
const URL_TYPE = structType('kubernetes.URL');

class UrlValue extends CelObject {
  readonly type = URL_TYPE;
  readonly url: GoUrl;
  readonly #text: string;

  constructor(url: GoUrl, text: string) {
    super();
    this.url = url;
    this.#text = text;
  }

  override equals(other: CelValue): boolean | CelError {
    return other instanceof UrlValue ? this.toString() === other.toString() : noSuchOverload();
  }

  /** The scheme in lower case and the path escaped; the rest as it was written. */
  toString(): string {
    const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(this.#text)?.[0] ?? '';
    const raw = this.#rawPath();
    return scheme.toLowerCase() + this.#text.slice(scheme.length).replace(raw, () => this.escapedPath());
  }

  /** As it was written, if it could be; else with all escaped that has to be. */
  escapedPath(): string {
    const raw = this.#rawPath();
    if (/^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/]|%[0-9a-fA-F]{2})*$/.test(raw)) return raw;
    return Array.from(Buffer.from(this.url.path), (byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    }).join('');
  }

  #rawPath(): string {
    const body = this.#text
      .replace(/#.*$/s, '')
      .replace(/\?.*$/s, '')
      .replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:/, '');
    if (!body.startsWith('/')) return '';
    return body.startsWith('//') ? body.replace(/^\/\/[^/]*/, '') : body;
  }
}

function parse(text: string): CelValue {
  // Parsed twice, as upstream does: the first is strict about being absolute, the second knows fragments.
  const strict = parseGoRequestUri(text);
  const url = 'error' in strict ? strict : parseGoUrl(text);
  return 'error' in url ? new CelError(`URL parse error during conversion from string: ${url.error}`) : new UrlValue(url, text);
}

/** Without brackets and port. */
function hostname(host: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(host);
  return bracketed === null ? host.replace(/:\d*$/, '') : bracketed[1]!;
}

const port = (host: string): string => /:(\d*)$/.exec(host.replace(/^\[[^\]]*\]/, ''))?.[1] ?? '';

function unescapeQuery(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const bytes = text.replaceAll('+', ' ').split(/(%[0-9a-fA-F]{2})/);
  return Buffer.concat(bytes.map((part) => (/^%[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part)))).toString();
}

/** What cannot be read is left out. */
function parseQuery(query: string): CelValue {
  const lists = new Map<string, string[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    const key = unescapeQuery(equals === -1 ? part : part.slice(0, equals));
    const value = unescapeQuery(equals === -1 ? '' : part.slice(equals + 1));
    if (key !== undefined && value !== undefined) lists.set(key, [...(lists.get(key) ?? []), value]);
  }
  const map = new EntryMap();
  for (const [key, values] of lists) map.set(key, new ArrayList(values));
  return map;
}

const accessor = (name: string, id: string, read: (value: UrlValue) => string): ReturnType<typeof fn> => fn(name, member(id, [URL_TYPE], STRING, read));

export const URLS_LIBRARY: Library = {
  functions: [
    fn('url', overload('string_to_url', [STRING], URL_TYPE, parse)),
    fn(
      'isURL',
      overload('is_url_string', [STRING], BOOL, (text: string) => !('error' in parseGoRequestUri(text))),
    ),
    accessor('getScheme', 'url_get_scheme', ({ url }) => url.scheme),
    accessor('getHost', 'url_get_host', ({ url }) => url.host),
    accessor('getHostname', 'url_get_hostname', ({ url }) => hostname(url.host)),
    accessor('getPort', 'url_get_port', ({ url }) => port(url.host)),
    accessor('getEscapedPath', 'url_get_escaped_path', (value) => value.escapedPath()),
    fn(
      'getQuery',
      member('url_get_query', [URL_TYPE], mapType(STRING, listType(STRING)), ({ url }: UrlValue) => parseQuery(url.query)),
    ),
  ],
};

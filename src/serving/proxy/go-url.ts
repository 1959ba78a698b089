/* Paths and queries as Go writes them anew: upstream's proxies decode what they were sent and encode it again (net/url). */

const PLAIN_PATH = /^[\w.~$&+,/:;=@-]*$/;
const UNSAFE_IN_PATH = /[^\w.~$&+,/:;=@-]/g;
const PLAIN_QUERY = /^(?:[\w.~-]+=[\w.~-]*)?$/;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/** An escaped path, decoded and escaped again: `%2F` becomes a slash (url.URL.EscapedPath of a URL without RawPath). */
export const reencodedPath = (path: string): string => (PLAIN_PATH.test(path) ? path : escape(unescape(path), UNSAFE_IN_PATH));

/** A path that Go has joined to another, both decoded. */
export const escapedPath = (path: string): string => (PLAIN_PATH.test(path) ? path : escape(Buffer.from(path, 'utf8').toString('latin1'), UNSAFE_IN_PATH));

/** A query with its keys in order and pairs that cannot be read left out (url.Values.Encode). '' where nothing is left. */
export function sortedQuery(query: string): string {
  if (PLAIN_QUERY.test(query)) return query;
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';') || BAD_ESCAPE.test(pair)) continue;
    const at = pair.indexOf('=');
    const [key, value] = (at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]).map((text) => unescape(text.replaceAll('+', ' ')));
    const listed = values.get(key!);
    if (listed) listed.push(value!);
    else values.set(key!, [value!]);
  }
  const encode = (text: string): string => escape(text, /[^\w.~ -]/g).replaceAll(' ', '+');
  return [...values.keys()]
    .sort()
    .flatMap((key) => values.get(key)!.map((value) => `${encode(key)}=${encode(value)}`))
    .join('&');
}

/** The bytes that are meant, one character each: they need not be UTF-8. */
const unescape = (text: string): string =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replaceAll(/%([0-9a-fA-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));

const escape = (bytes: string, unsafe: RegExp): string =>
  bytes.replaceAll(unsafe, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

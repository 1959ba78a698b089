/** URLs of webhooks as client-go makes them (client-go/rest/url_utils.go, request.go URL; Go's net/url and path). Paths here are strings of bytes. */

/** What stands between the authority and the query or fragment. */
const AFTER_AUTHORITY = /^[^/?#]*:\/\/[^/?#]*([^?#]*)/;

/** The URL that a webhook named by `url` is called at: the path is decoded, cleaned and encoded again; what comes behind it is left out. */
export function webhookUrl(text: string): URL {
  const [, path = ''] = AFTER_AUTHORITY.exec(text) ?? [];
  return atPath(new URL(text), escapePath(cleanPath(unescapePath(path))));
}

/** The same for a webhook named by a service, whose path is text that was never encoded. */
export const serviceUrl = (host: string, path: string): URL => atPath(new URL(`https://${host}`), escapePath(cleanPath(Buffer.from(path).toString('latin1'))));

/** The same for the server of a kubeconfig: a path that is clean stays as it was written. */
export function serverPathUrl(server: URL): URL {
  const path = unescapePath(server.pathname);
  const cleaned = cleanPath(path);
  return atPath(server, cleaned === path ? server.pathname : escapePath(cleaned));
}

function atPath(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = path;
  url.search = '';
  url.hash = '';
  return url;
}

const unescapePath = (path: string): string =>
  Buffer.from(path)
    .toString('latin1')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** No empty segments, no dots, no slash at the end (path.Join("/", path)). */
function cleanPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** What Go's URLs leave as it is in a path. */
const ESCAPED = /[^A-Za-z0-9\-_.~$&+,/:;=@]/g;

const escapePath = (path: string): string => path.replaceAll(ESCAPED, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

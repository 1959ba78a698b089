import { type Readable, pipeline } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import type { ConnectCall } from '../../registry/definition.ts';
import type { Exchange } from '../../serving/exchange.ts';
import { streamOf } from '../../serving/proxy/answer.ts';
import { type ProxyTarget, forward } from '../../serving/proxy/forward.ts';
import type { BackendResponse, Transport } from '../../serving/proxy/transport.ts';
import { isUpgradeRequest, tunnel } from '../../serving/proxy/upgrade.ts';
import { hostPort } from '../../util/dial.ts';
import { unknownError } from '../../util/errors.ts';
import { HtmlLinks } from './html-links.ts';
import { type ProxiedPlace, joinPaths, rewrittenLink } from './links.ts';

/** What a proxy's name stands for. */
export interface ProxiedBackend {
  host: string;
  port: number;
  transport: Transport;
}

/** Sends a request below `…/proxy` on to a backend (apimachinery/pkg/util/proxy/upgradeaware.go). */
export async function passToBackend({ exchange, options }: ConnectCall, { host, port, transport }: ProxiedBackend): Promise<void> {
  const path = cleanPath((options['path'] as string | undefined) ?? '');
  const [asked, query = ''] = splitOnce(exchange.target, '?');
  const hostHeader = exchange.headers.host ?? hostPort(host, port);
  const target = { transport, host, port, path: escapePath(path === '' ? '/' : path) };
  if (isUpgradeRequest(exchange)) return upgradeTo(exchange, target, hostHeader);
  const search = query === '' ? '' : `?${query}`;
  // The links of a page are relative to a folder, not to the last word of our own path (kubernetes/kubernetes#4958).
  if (path === '' && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
    exchange.respond(301, { location: `${asked}/${search}` });
    return;
  }
  const whole = decodeURIComponent(asked);
  const prefix = whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : whole;
  const place: ProxiedPlace = { prefix, backendHost: hostPort(host, port), clientHost: hostHeader };
  await forward(
    exchange,
    { ...target, path: target.path + search },
    { hostHeader, headers: { 'x-forwarded-uri': joinPaths(prefix, target.path) }, rewrite: (response) => rewrittenResponse(response, place) },
  );
}

/** What goes wrong before the backend has answered is told in upstream's words. */
async function upgradeTo(exchange: Exchange, target: ProxyTarget, hostHeader: string): Promise<void> {
  try {
    await tunnel(exchange, target, { hostHeader });
  } catch (error) {
    throw unknownError((error as Error).message);
  }
}

/** As Go's path.Join makes it, which upstream puts every path through: nobody climbs out of a backend's root, and no slash is doubled. */
const cleanPath = (path: string): string => (path === '' ? '' : joinPaths('/', path));

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** As Go writes a path: the bytes that need it are escaped, the slashes stay. */
const escapePath = (path: string): string => encodeURI(path).replaceAll(/[?#!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Redirects and pages of HTML lead through the proxy; all else is passed on as it comes. */
function rewrittenResponse(response: BackendResponse, place: ProxiedPlace): BackendResponse {
  const { headers } = response;
  const { location } = headers;
  if (typeof location === 'string' && location !== '') {
    headers['location'] = rewrittenLink(location, place);
    return response;
  }
  const mediaType = String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim();
  const body = mediaType === 'text/html' ? rewrittenPage(streamOf(response.body), String(headers['content-encoding'] ?? ''), place) : undefined;
  if (body === undefined) return response;
  delete headers['content-length'];
  return { ...response, headers, body };
}

/** Undefined for an encoding that we do not understand. */
function rewrittenPage(body: Readable, encoding: string, place: ProxiedPlace): Readable | undefined {
  const links = new HtmlLinks((link) => rewrittenLink(link, place));
  // Whoever reads the last of them learns of a failure: it is destroyed.
  const ignore = (): void => {};
  if (encoding === '') return pipeline(body, links, ignore);
  if (encoding === 'gzip') return pipeline(body, createGunzip(), links, createGzip(), ignore);
  if (encoding === 'deflate') return pipeline(body, createInflateRaw(), links, createDeflateRaw(), ignore);
  return undefined;
}

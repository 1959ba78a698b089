import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Exchange, ResponseHeaders } from '../exchange.ts';

/** For one connection, not for the one behind it (RFC 9110 §7.6.1); `proxy-connection` as Go's reverse proxy has it. `te` is kept where it says `trailers`. */
const HOP_BY_HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** What names a user, or proves it, to us: never to a backend. Filters have taken off what they knew; this is for what they did not. */
const isCredential = (name: string): boolean => name === 'authorization' || name.startsWith('x-remote-') || name.startsWith('impersonate-');

/** What our own side of a connection has answered already. */
const OWN = new Set(['host', 'expect']);

/** The names that `Connection` lists; undefined for the usual request, that lists none. */
function listedNames(connection: string | undefined): Set<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** A request's headers as a backend may see them, with the client's address added (httputil.ReverseProxy). */
export function requestHeaders({ headers, remoteAddress }: Pick<Exchange, 'headers' | 'remoteAddress'>): OutgoingHttpHeaders {
  const listed = listedNames(headers.connection);
  const forwarded: OutgoingHttpHeaders = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name) || OWN.has(name) || isCredential(name) || listed?.has(name)) continue;
    forwarded[name] = value;
  }
  if (acceptsTrailers(headers)) forwarded['te'] = 'trailers';
  forwarded['x-forwarded-for'] =
    headers['x-forwarded-for'] === undefined ? remoteAddress : `${[headers['x-forwarded-for']].flat().join(', ')}, ${remoteAddress}`;
  return forwarded;
}

const acceptsTrailers = ({ te }: IncomingHttpHeaders): boolean => te !== undefined && /(?:^|,)\s*trailers\s*(?:,|$)/i.test([te].flat().join(','));

/** Cross-origin rules are ours to give, not a backend's. */
const CORS = ['access-control-allow-credentials', 'access-control-allow-headers', 'access-control-allow-methods', 'access-control-allow-origin'];
/** `trailer` stays: it announces what follows. */
const NOT_FOR_CLIENTS = new Set([...HOP_BY_HOP, ...CORS].filter((name) => name !== 'trailer'));

/** What is said of a request once: by the server that audits it and that gave it its turn. Go's reverse proxy sends a backend's beside its own. */
const OURS_ALONE = new Set(['audit-id', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid']);

/**
 * The headers without what is not for the client, and with what is on every answer of ours: a backend does not decide which audit id the client sees, or who may
 * keep the answer. They are copied: an object that something was deleted from is slow from then on.
 */
export function cleanResponseHeaders(headers: ResponseHeaders, own: Exchange['ownHeaders']): ResponseHeaders {
  const listed = listedNames(headers['connection'] as string | undefined);
  const cleaned: ResponseHeaders = {};
  for (const name in headers) if (!NOT_FOR_CLIENTS.has(name) && !listed?.has(name)) cleaned[name] = headers[name]!;
  for (const name in own) {
    if (cleaned[name] === undefined) continue;
    cleaned[name] = OURS_ALONE.has(name) ? own[name]! : [own[name]!, String(cleaned[name])].flat();
  }
  return cleaned;
}

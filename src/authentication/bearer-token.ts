import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

const SPACE_BEFORE_TOKEN = 'the provided Authorization header contains extra space before the bearer token, and is ignored';
const WEBSOCKET_PREFIX = 'base64url.bearer.authorization.k8s.io.';

/** `Authorization: Bearer …` (apiserver/pkg/authentication/request/bearertoken). A token that nobody knows is an error, not an anonymous request. */
export function bearerToken(tokens: TokenAuthenticator): Authenticator {
  return {
    authenticate(request) {
      const header = request.exchange.headers.authorization;
      if (header === undefined) return undefined;
      const [scheme, token, rest] = header.trim().split(' ', 3);
      if (token === undefined || scheme!.toLowerCase() !== 'bearer') return undefined;
      if (token !== '') return known(tokens.authenticateToken(token, undefined, request));
      if (rest !== undefined) request.warn(SPACE_BEFORE_TOKEN);
      return undefined;
    },
  };
}

/**
 * Browsers cannot set headers on a WebSocket, so a token may come as one of the subprotocols they offer (request/websocket).
 * It is taken out of the header when it is good, so that it is never echoed.
 */
export function webSocketToken(tokens: TokenAuthenticator): Authenticator {
  return {
    authenticate(request) {
      const { headers } = request.exchange;
      const offered = headers['sec-websocket-protocol'];
      if (offered === undefined || !offered.includes(WEBSOCKET_PREFIX) || !isWebSocketRequest(headers)) return undefined;
      const protocols = offered.split(',').map((protocol) => protocol.trim());
      const token = tokenAmong(protocols);
      if (token === '') return undefined;
      const others = protocols.filter((protocol) => !protocol.startsWith(WEBSOCKET_PREFIX));
      if (others.length === 0) throw new Error('missing additional subprotocol');
      const accept = (authentication: Authentication): Authentication => {
        headers['sec-websocket-protocol'] = others.join(',');
        return authentication;
      };
      const found = known(tokens.authenticateToken(token, undefined, request));
      return found instanceof Promise ? found.then(accept) : accept(found);
    },
  };
}

function known(found: Authentication | undefined | Promise<Authentication | undefined>): Authentication | Promise<Authentication> {
  if (found instanceof Promise) return found.then(orInvalid);
  return orInvalid(found);
}

function orInvalid(found: Authentication | undefined): Authentication {
  if (found === undefined) throw new Error('invalid bearer token');
  return found;
}

function tokenAmong(protocols: readonly string[]): string {
  const [encoded, ...more] = protocols.filter((protocol) => protocol.startsWith(WEBSOCKET_PREFIX));
  if (encoded === undefined) return '';
  const token = decodeToken(encoded.slice(WEBSOCKET_PREFIX.length));
  if (more.length > 0) throw new Error('multiple base64.bearer.authorization tokens specified');
  return token;
}

/** Unpadded base64url, strictly: Node's own decoder skips what it does not know. */
function decodeToken(encoded: string): string {
  if (!/^[\w-]*$/.test(encoded) || encoded.length % 4 === 1) throw new Error('invalid base64.bearer.authorization token encoding');
  const bytes = Buffer.from(encoded, 'base64url');
  if (!isUtf8(bytes)) throw new Error('invalid base64.bearer.authorization token');
  return bytes.toString();
}

function isWebSocketRequest({ connection = '', upgrade = '' }: IncomingHttpHeaders): boolean {
  return (
    upgrade.toLowerCase() === 'websocket' &&
    connection
      .toLowerCase()
      .split(',')
      .some((option) => option.trim() === 'upgrade')
  );
}

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../exchange.ts';
import { isUpgradeRequest } from '../proxy/upgrade.ts';
import { WebSocketConnection } from './connection.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';
const BAD_VERSION = 'missing or bad WebSocket Version';

export const isWebSocketRequest = ({ headers }: Pick<Exchange, 'headers'>): boolean =>
  isUpgradeRequest({ headers }) && headers.upgrade?.toLowerCase() === 'websocket';

/** The subprotocols that the client would speak, in its order. */
export const offeredProtocols = (headers: IncomingHttpHeaders): string[] => {
  const offered = headers['sec-websocket-protocol']?.trim() ?? '';
  return offered === '' ? [] : offered.split(',').map((protocol) => protocol.trim());
};

/** Why a handshake is not answered with a WebSocket. */
export interface HandshakeRefusal {
  status: number;
  message: string;
}

/**
 * Answers a handshake (RFC 6455 §4.2.2), and takes the connection over. `choose` picks the subprotocol, '' for none, or says why there is nothing to be had.
 * Undefined where it was refused: the refusal is then answered, in the words of golang.org/x/net/websocket.
 */
export function acceptWebSocket(exchange: Exchange, choose: (offered: readonly string[]) => string | HandshakeRefusal): WebSocketConnection | undefined {
  const { method, headers } = exchange;
  const key = headers['sec-websocket-key'] ?? '';
  if (method !== 'GET') return refuse(exchange, { status: 405, message: 'bad method' });
  if (key === '') return refuse(exchange, { status: 400, message: 'mismatch challenge/response' });
  if (headers['sec-websocket-version'] !== VERSION) return refuse(exchange, { status: 400, message: BAD_VERSION });
  const protocol = choose(offeredProtocols(headers));
  if (typeof protocol !== 'string') return refuse(exchange, protocol);
  const taken = exchange.upgrade();
  if (!taken) return refuse(exchange, { status: 400, message: 'not websocket protocol' });
  taken.socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${createHash('sha1')
        .update(key + GUID)
        .digest('base64')}\r\n` +
      (protocol === '' ? '\r\n' : `Sec-WebSocket-Protocol: ${protocol}\r\n\r\n`),
  );
  return new WebSocketConnection(taken.socket, taken.head, protocol);
}

function refuse(exchange: Exchange, { status, message }: HandshakeRefusal): undefined {
  exchange.respond(status, message === BAD_VERSION ? { 'sec-websocket-version': VERSION } : {}, message);
}

import type { Exchange, ResponseStream } from '../exchange.ts';
import { messageStream } from './connection.ts';
import { type HandshakeRefusal, acceptWebSocket, isWebSocketRequest } from './handshake.ts';

/** Go's url.ParseRequestURI takes what has a scheme, or begins with a slash. */
const isUri = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) || text.startsWith('/');

/**
 * Watches over WebSockets, as upstream serves them: whoever asks must say where it comes from (golang.org/x/net/websocket, Handler), though any place will do, and may
 * offer one subprotocol at most, which is then the one.
 */
export const watchSockets = {
  isAsked: (exchange: Exchange): boolean => isWebSocketRequest(exchange),
  open(exchange: Exchange, isText: boolean): ResponseStream | undefined {
    const { origin } = exchange.headers;
    const choose = (offered: readonly string[]): string | HandshakeRefusal => {
      if (origin === undefined || !isUri(origin)) return { status: 403, message: '' };
      return offered.length > 1 ? { status: 400, message: '' } : (offered[0] ?? '');
    };
    const connection = acceptWebSocket(exchange, choose);
    return connection && messageStream(connection, isText);
  },
};

import { ServerConnection } from '../http2/server-connection.ts';
import { systemClock } from '../util/clock.ts';
import type { UnsentLedger } from '../net/unsent-answers.ts';
import type { Connection, ExchangeSink } from './connection.ts';
import { Http2Exchange } from './http2-exchange.ts';
import type { ServingLimits, ServingProblem } from './limits.ts';

export interface Http2Options {
  limits: ServingLimits;
  onExchange: ExchangeSink;
  onProblem: (problem: ServingProblem) => void;
  unsent: UnsentLedger;
}

/** In Go's words. */
const OVERSIZED_HEAD = '<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>';
const UNREAD_HEAD = { method: 'GET', target: '/', headers: {}, contentLength: undefined };

/** Speaks HTTP/2 on connections that are handed to it. */
export function createHttp2({ limits, onExchange, onProblem, unsent }: Http2Options): { serve(connection: Connection): void } {
  const options = { ...limits, clock: systemClock, unsent };
  return {
    serve(connection) {
      const { socket, remoteAddress } = connection;
      const http2 = new ServerConnection(socket, options, {
        onRequest(stream, head, fields, hasBody) {
          const exchange = new Http2Exchange(connection, http2, stream, head, fields, hasBody);
          stream.events = exchange;
          onExchange(exchange, connection);
        },
        onOversizedHead(stream) {
          const exchange = new Http2Exchange(connection, http2, stream, UNREAD_HEAD, [], true);
          stream.events = exchange;
          exchange.respond(431, {}, OVERSIZED_HEAD);
        },
        onAbuse: (message) => onProblem({ kind: 'http2-abuse', remoteAddress, message }),
        onUnread: (message) => onProblem({ kind: 'unread-answer', remoteAddress, message }),
        onViolation: (message) => onProblem({ kind: 'http2-session', remoteAddress, message }),
      });
      connection.setGracefulClose(() => http2.finish());
      connection.setReader(http2);
    },
  };
}

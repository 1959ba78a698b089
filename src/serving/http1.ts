import { RequestParser } from '../http1/request-parser.ts';
import { ServerConnection } from '../http1/server-connection.ts';
import { type MonotonicClock, monotonicClock } from '../util/clock.ts';
import type { UnsentLedger } from '../net/unsent-answers.ts';
import type { Connection, ExchangeSink } from './connection.ts';
import { Http1Exchange } from './http1-exchange.ts';
import type { ServingLimits, ServingProblem } from './limits.ts';

export interface Http1Options {
  limits: ServingLimits;
  onExchange: ExchangeSink;
  onProblem: (problem: ServingProblem) => void;
  unsent: UnsentLedger;
  clock?: MonotonicClock;
}

/** Speaks HTTP/1.x on connections that are handed to it. */
export function createHttp1({ limits, onExchange, onProblem, unsent, clock = monotonicClock }: Http1Options): { serve(connection: Connection): void } {
  const options = { ...limits, clock, unsent, parser: new RequestParser(limits) };
  return {
    serve(connection) {
      const { socket, remoteAddress } = connection;
      const http1 = new ServerConnection(socket, options, {
        onRequest(head, hasBody) {
          const exchange = new Http1Exchange(connection, http1, head, hasBody);
          http1.owner = exchange;
          onExchange(exchange, connection);
        },
        onUnread: (message) => onProblem({ kind: 'unread-answer', remoteAddress, message }),
        onBadRequest: (message) => onProblem({ kind: 'bad-request', remoteAddress, message }),
      });
      connection.setGracefulClose(() => http1.finish());
      connection.setReader(http1);
    },
  };
}

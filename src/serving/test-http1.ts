import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TestClock } from '../util/test-clock.ts';
import { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { createHttp1 } from './http1.ts';
import { DEFAULT_LIMITS, type ServingLimits, type ServingProblem } from './limits.ts';
import { socketPair } from './test-sockets.ts';
import { UnsentAnswers } from './unsent-answers.ts';

/* For tests: one connection of HTTP/1.1, without TLS, whose time stands still. */

class Served {
  readonly clock = new TestClock();
  readonly unsent: UnsentAnswers;
  readonly problems: ServingProblem[] = [];
  readonly exchanges: Exchange[] = [];
  readonly client: Socket;
  readonly connection: Connection;
  /** All that the client has received. */
  text = '';
  isClosed = false;

  constructor([client, server]: [Socket, Socket], limits: ServingLimits, onExchange: (exchange: Exchange) => void) {
    this.client = client;
    this.connection = new Connection(server as TLSSocket, []);
    server.on('error', () => server.destroy());
    client.on('error', () => {});
    client.on('data', (piece: Buffer) => (this.text += piece.toString('latin1')));
    server.on('close', () => (this.isClosed = true));
    this.unsent = new UnsentAnswers(limits, this.clock);
    const http1 = createHttp1({
      limits,
      clock: this.clock,
      unsent: this.unsent,
      onExchange: (exchange) => {
        this.exchanges.push(exchange);
        this.connection.openExchanges++;
        exchange.onClose(() => this.connection.openExchanges--);
        onExchange(exchange);
      },
      onProblem: (problem) => this.problems.push(problem),
    });
    http1.serve(this.connection);
  }

  /** Looks again every turn of the loop. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise(setImmediate);
  }

  count(text: string): number {
    return this.text.split(text).length - 1;
  }
}

/** Over when a number has not changed for many turns of the loop. */
export async function untilStill(read: () => number): Promise<void> {
  let before = read();
  for (let turns = 0; turns < 300; turns++) {
    await new Promise(setImmediate);
    if (read() === before) continue;
    before = read();
    turns = 0;
  }
}

export const serve = async (onExchange: (exchange: Exchange) => void = () => {}, limits: Partial<ServingLimits> = {}): Promise<Served> =>
  new Served(await socketPair(), { ...DEFAULT_LIMITS, ...limits }, onExchange);

export const get = (path: string, ...lines: string[]): string =>
  ['GET ', path, ' HTTP/1.1\r\nHost: a\r\n', ...lines.map((line) => `${line}\r\n`), '\r\n'].join('');

import { type Socket, createServer } from 'node:net';
import { removeLeftSocket } from '../net/unix-socket.ts';
import { Connection } from '../serving/connection.ts';
import type { Exchange } from '../serving/exchange.ts';
import { createHttp1 } from '../serving/http1.ts';
import { DEFAULT_LIMITS, type ServingProblem } from '../serving/limits.ts';
import { UnsentAnswers } from '../serving/unsent-answers.ts';
import type { DebugRoutes } from '../server/debug/profile-pages.ts';
import { parseRequestInfo } from '../server/request-info.ts';
import { IncomingRequest } from '../server/server-request.ts';
import { monotonicClock } from '../util/clock.ts';

/** May be read and written by this user alone; upstream leaves it to the umask. */
const SOCKET_UMASK = 0o177;

/**
 * `--debug-socket-path`: profiles and the log's verbosity on a Unix socket, to whoever may open it (apiserver/pkg/server/routes/debugsocket.go). A server that no
 * longer answers over TLS, or refuses everybody, can still be asked. Resolves when it listens, with what closes it.
 */
export async function openDebugSocket(path: string, routes: DebugRoutes, onProblem: (problem: ServingProblem) => void): Promise<() => void> {
  await removeLeftSocket(path);
  const limits = DEFAULT_LIMITS;
  const http1 = createHttp1({ limits, onProblem, unsent: new UnsentAnswers(limits, monotonicClock), onExchange: (exchange) => void serve(exchange, routes) });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    http1.serve(new Connection(socket, []));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`--debug-socket-path: cannot listen on ${path}: ${error.message}`, { cause: error })));
    const umask = process.umask(SOCKET_UMASK);
    server.listen({ path, exclusive: true }, resolve);
    process.umask(umask);
  });
  server.unref();
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}

async function serve(exchange: Exchange, routes: DebugRoutes): Promise<void> {
  const request = new IncomingRequest(exchange);
  request.info = parseRequestInfo(exchange.method, exchange.target);
  const { path } = request.info;
  const handler = routes.paths.get(path) ?? [...routes.prefixes].find(([prefix]) => path.startsWith(prefix))?.[1];
  try {
    if (handler) await handler(request);
    else exchange.respond(404, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }, '404 page not found\n');
  } catch (error) {
    exchange.respond(500, { 'content-type': 'text/plain; charset=utf-8' }, `${(error as Error).message}\n`);
  } finally {
    request.finish(() => {});
  }
}

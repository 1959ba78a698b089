import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { unknownError } from '../../util/errors.ts';
import { quote } from '../../util/field-errors.ts';
import type { ResponseHeaders } from '../exchange.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendRequest, BackendResponse } from './transport.ts';

/** client-go keeps 25; a handshake costs us more than a connection that waits. */
const IDLE_CONNECTIONS = 250;
/** As Go's transport. */
const IDLE_TIMEOUT_MS = 90_000;
const MAX_HEAD_BYTES = 1 << 20;

/** Connections that speak HTTP/1.1 to one backend, one request at a time each. */
export class Http1Pool {
  readonly #agent: PooledAgent;
  readonly #authority: string;

  constructor(authority: string, connect: () => Promise<Socket>) {
    this.#authority = authority;
    this.#agent = new PooledAgent(connect);
  }

  /** A connection that is there already. */
  add(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    socket.once('close', () => void this.#agent.spare.delete(socket));
    this.#agent.spare.add(socket);
  }

  send({ method, path, headers, hostHeader, body }: BackendRequest): BackendCall {
    headers['host'] = hostHeader ?? this.#authority;
    const request = httpRequest({ agent: this.#agent, method, path, headers, setHost: false, maxHeaderSize: MAX_HEAD_BYTES });
    const response = new Promise<BackendResponse>((resolve, reject) => {
      request.once('response', (message) => resolve(responseOf(message)));
      // Without a listener, Node ends the connection and tells nobody.
      request.once('upgrade', ({ headers: { upgrade = '' } }, socket) => {
        socket.destroy();
        reject(unknownError(`backend tried to switch protocol ${quote(upgrade)} when "" was requested`));
      });
      request.on('error', (error: NodeJS.ErrnoException) => reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection(error) : error));
    });
    if (!body) request.end();
    else sendBody(body, request);
    return { response, cancel: () => void request.destroy() };
  }

  closeIdle(): void {
    this.#agent.closeSpare();
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  retire(): void {
    this.#agent.maxFreeSockets = 0;
    this.closeIdle();
  }

  close(): void {
    this.#agent.closeSpare();
    this.#agent.destroy();
  }
}

/** A client that breaks off takes the request with it. */
function sendBody(body: NonNullable<BackendRequest['body']>, request: ClientRequest): void {
  body.once('close', () => {
    if (!body.readableEnded && !request.writableEnded) request.destroy();
  });
  body.pipe(request);
}

function responseOf(message: IncomingMessage): BackendResponse {
  message.on('error', () => {}); // its close tells all there is to know
  return {
    status: message.statusCode!,
    headers: message.headers as ResponseHeaders,
    body: message,
    trailers: () => (message.rawTrailers.length === 0 ? undefined : (message.trailers as ResponseHeaders)),
  };
}

type Connected = (error: Error | null, socket: Duplex) => void;

class PooledAgent extends Agent {
  /** Opened, but not used by a request so far. */
  readonly spare = new Set<Socket>();
  readonly #connect: () => Promise<Socket>;

  constructor(connect: () => Promise<Socket>) {
    super({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, timeout: IDLE_TIMEOUT_MS });
    this.#connect = connect;
  }

  override createConnection(_options: object, done?: Connected): Duplex | null {
    const [socket] = this.spare;
    if (socket) {
      this.spare.delete(socket);
      return socket;
    }
    void this.#open(done!);
    return null;
  }

  async #open(done: Connected): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#connect();
    } catch (error) {
      // Node's types know of no failure without a socket.
      return (done as (error: unknown) => void)(error);
    }
    done(null, socket);
  }

  closeSpare(): void {
    for (const socket of this.spare) socket.destroy();
    this.spare.clear();
  }
}

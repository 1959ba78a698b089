import type { Socket } from 'node:net';
import { type ConnectionOwner, Http1Call, Http1Connection } from './http1-connection.ts';
import type { BackendCall, BackendRequest } from './transport.ts';

/** client-go keeps 25; a handshake costs us more than a connection that waits. */
const IDLE_CONNECTIONS = 250;
/** As Go's transport. */
const IDLE_TIMEOUT_MS = 90_000;
const SWEEP_INTERVAL_MS = 10_000;

/** Connections that speak HTTP/1.1 to one backend, one request at a time each. */
export class Http1Pool implements ConnectionOwner {
  readonly #authority: string;
  readonly #connect: () => Promise<Socket>;
  readonly #connections = new Set<Http1Connection>();
  /** The one that was used last comes first again: those that are not needed grow old. */
  readonly #idle: Http1Connection[] = [];
  #keptIdle = IDLE_CONNECTIONS;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(authority: string, connect: () => Promise<Socket>) {
    this.#authority = authority;
    this.#connect = connect;
  }

  /** A connection that is there already. */
  add(socket: Socket): void {
    this.onIdle(this.#connectionOn(socket));
  }

  send(request: BackendRequest): BackendCall {
    const call = new Http1Call(request);
    const connection = this.#takeIdle();
    if (connection) this.#start(call, connection);
    else void this.#startOnNew(call);
    return call;
  }

  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
    this.#endSweeping();
  }

  retire(): void {
    this.#keptIdle = 0;
    this.closeIdle();
  }

  close(): void {
    this.retire();
    for (const connection of this.#connections) connection.destroy();
  }

  onIdle(connection: Http1Connection): void {
    if (this.#idle.length >= this.#keptIdle) return connection.destroy();
    connection.idleSinceMs = Date.now();
    this.#idle.push(connection);
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  onClose(connection: Http1Connection): void {
    this.#connections.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #takeIdle(): Http1Connection | undefined {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) if (connection.isUsable) return connection;
    return undefined;
  }

  #start(call: Http1Call, connection: Http1Connection): void {
    try {
      connection.start(call);
    } catch (error) {
      this.onIdle(connection);
      call.answer.fail(error as Error);
    }
  }

  async #startOnNew(call: Http1Call): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#connect();
    } catch (error) {
      return call.answer.fail(error as Error);
    }
    const connection = this.#connectionOn(socket);
    if (call.answer.isOver) this.onIdle(connection);
    else this.#start(call, connection);
  }

  #connectionOn(socket: Socket): Http1Connection {
    const connection = new Http1Connection(socket, this.#authority, this);
    this.#connections.add(connection);
    return connection;
  }

  #sweep(): void {
    const oldestMs = Date.now() - IDLE_TIMEOUT_MS;
    while (this.#idle[0] && this.#idle[0].idleSinceMs < oldestMs) this.#idle.shift()!.destroy();
    if (this.#idle.length === 0) this.#endSweeping();
  }

  #endSweeping(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

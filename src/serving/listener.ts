import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type SecureContextOptions, type Server as TlsServer, type TLSSocket, createServer as createTlsServer } from 'node:tls';
import { monotonicClock } from '../util/clock.ts';
import { type ServingCertificates, type ServingContexts, createContexts } from './certificates/contexts.ts';
import { checkKeyType, parsePeerCertificates } from './certificates/peer.ts';
import { ResumedChains } from './certificates/resumed-chains.ts';
import { Connection, type ExchangeSink } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { createHttp1 } from './http1.ts';
import { createHttp2 } from './http2.ts';
import type { ConnectionSource } from './port.ts';
import { DEFAULT_LIMITS, type ServingLimits, type ServingProblem, limitProblems } from './limits.ts';
import { resolveTlsFlags } from './tls-options.ts';
import { UnsentAnswers } from './unsent-answers.ts';

export interface ListenOptions {
  /** From `openPort`, or of another process that has the port. */
  source: ConnectionSource;
  certificates: ServingCertificates;
  /** From `resolveTlsFlags`; what it leaves out is as without flags. */
  tls?: SecureContextOptions;
  /** `--disable-http2-serving`. */
  disableHttp2?: boolean;
  limits?: Partial<ServingLimits>;
  /** Told of every handshake that fails. */
  onHandshakeError?: () => void;
  /** Told what goes wrong with clients, at most 20 times a second. */
  onProblem?: (problem: ServingProblem) => void;
}

export interface Listener {
  readonly address: { host: string; port: number };
  readonly openConnections: number;
  readonly openExchanges: number;
  /**
   * Stops accepting, asks every client to go, waits for open exchanges at most so long, and cuts off the rest. Resolves when the last connection
   * is gone. May be called again with a shorter grace.
   */
  close(options: { graceMs: number }): Promise<void>;
}

/** What Node takes: a name, a key for HMAC and one for AES, of 16 bytes each. */
const TICKET_KEY_BYTES = 48;
/** Go renews them as often (crypto/tls, ticketKeyRotation): whoever learns a key can read TLS 1.2 sessions that were resumed by its tickets. */
const TICKET_KEY_LIFETIME_MS = 24 * 3_600_000;

/**
 * Serves HTTP/1.1 and HTTP/2 over TLS on one port. Every request comes to `onExchange`; one that it throws on is cut off, and the rest live on.
 */
export function listen(options: ListenOptions, onExchange: (exchange: Exchange) => void): Listener {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const onProblem = limitProblems(options.onProblem ?? (() => {}));
  const contexts = createContexts(options.certificates, { ...resolveTlsFlags({}).settings, ...options.tls }, (error) =>
    onProblem({ kind: 'certificates', remoteAddress: '', message: error.message }),
  );
  const clients = new Clients();
  const sink = clients.countingSink(onExchange, onProblem);
  const unsent = new UnsentAnswers(limits, monotonicClock);
  const http1 = createHttp1({ limits, onExchange: sink, onProblem, unsent });
  const http2 = createHttp2({ limits, onExchange: sink, onProblem, unsent });
  const onHandshakeError = options.onHandshakeError ?? (() => {});

  const tlsServers = createTlsServers(options, limits, contexts);
  const chains = new ResumedChains(() => tlsServers.all.forEach((tlsServer) => tlsServer.setTicketKeys(randomBytes(TICKET_KEY_BYTES))));
  let keyTimer = monotonicClock.after(TICKET_KEY_LIFETIME_MS, renewTicketKeys);
  function renewTicketKeys(): void {
    chains.forget();
    keyTimer = monotonicClock.after(TICKET_KEY_LIFETIME_MS, renewTicketKeys);
  }
  for (const server of tlsServers.all) {
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = new Connection(socket, chains.chainOf(socket));
      clients.add(connection);
      const refusal = certificateRefusal(connection);
      if (refusal !== undefined) {
        onHandshakeError();
        onProblem({ kind: 'tls-handshake', remoteAddress: connection.remoteAddress, message: refusal });
        socket.destroy();
        return;
      }
      (socket.alpnProtocol === 'h2' ? http2 : http1).serve(connection);
    });
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      onHandshakeError();
      onProblem({ kind: 'tls-handshake', remoteAddress: socket.remoteAddress ?? '', message: error.message });
      clients.refuseHandshake(socket, error.code === 'ERR_SSL_HTTP_REQUEST');
    });
  }

  const { source } = options;
  source.start((socket) => {
    clients.addRaw(socket);
    tlsServers.forSocket(socket).emit('connection', socket);
  });
  return {
    address: source.address,
    get openConnections() {
      return clients.openSockets;
    },
    get openExchanges() {
      return clients.openExchanges;
    },
    async close({ graceMs }) {
      keyTimer.cancel();
      const stopped = source.stop();
      clients.requestClose(graceMs);
      await Promise.all([stopped, clients.whenGone()]);
    },
  };
}

/** Why crypto/tls would not have let the handshake through: a certificate that it cannot read, or a key that is too large. Nothing is verified for it. */
function certificateRefusal({ peerCertificates }: Connection): string | undefined {
  if (peerCertificates.length === 0) return undefined;
  try {
    checkKeyType(parsePeerCertificates(peerCertificates, 'client')[0], 'client');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** One TLS server for most clients, and one for each address that has a certificate of its own: without SNI, the address is all a client tells. */
function createTlsServers(
  options: ListenOptions,
  limits: ServingLimits,
  contexts: ServingContexts,
): { all: TlsServer[]; forSocket(socket: Socket): TlsServer } {
  const create = (current: () => SecureContextOptions): TlsServer => {
    const server = createTlsServer({
      ...current(),
      ALPNProtocols: options.disableHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
      requestCert: (options.certificates.clientCas?.length ?? 0) > 0,
      rejectUnauthorized: false,
      handshakeTimeout: limits.headerTimeoutMs,
      SNICallback: (name, done) => done(null, contexts.forServerName(name)),
    });
    contexts.onChange(() => server.setSecureContext(current()));
    return server;
  };
  const byDefault = create(() => contexts.defaultOptions);
  const byAddress = new Map(contexts.addresses.map((address) => [address, create(() => contexts.forAddress(address) ?? contexts.defaultOptions)]));
  return {
    all: [byDefault, ...byAddress.values()],
    forSocket: (socket) => (byAddress.size > 0 && byAddress.get((socket.localAddress ?? '').replace('::ffff:', ''))) || byDefault,
  };
}

/** Both the plain and the TLS socket of one connection have this. */
const peerOf = ({ remoteAddress, remotePort, localAddress }: Socket): string => `${remoteAddress} ${remotePort} ${localAddress}`;

/** As Go waits (net/http closeIdleConns): who has connected just now has a request on its way. */
const FIRST_REQUEST_MS = 5_000;

/** Who is connected, and how many requests are open. */
class Clients {
  openExchanges = 0;
  #isClosing = false;
  /** Those whose TLS handshake is not done, by their peer. */
  readonly #handshaking = new Map<string, Socket>();
  readonly #connections = new Set<Connection>();
  #goneListeners: (() => void)[] = [];

  get openSockets(): number {
    return this.#handshaking.size + this.#connections.size;
  }

  /** A connection that has not begun TLS yet. */
  addRaw(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshaking.set(peer, socket);
    socket.once('close', () => {
      if (this.#handshaking.get(peer) === socket) this.#handshaking.delete(peer);
      this.#tellIfGone();
    });
    socket.on('error', () => socket.destroy());
  }

  /** Ends a connection that did not come to TLS. One that speaks plain HTTP is told so in Go's words, which everybody looks up. */
  refuseHandshake(socket: TLSSocket, isPlainHttp: boolean): void {
    const raw = this.#handshaking.get(peerOf(socket));
    if (!raw || !isPlainHttp) return void socket.destroy();
    raw.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n', () => socket.destroy());
  }

  add(connection: Connection): void {
    this.#handshaking.delete(peerOf(connection.socket));
    this.#connections.add(connection);
    connection.socket.once('close', () => {
      this.#connections.delete(connection);
      this.#tellIfGone();
    });
    connection.socket.on('error', () => connection.socket.destroy());
  }

  countingSink(onExchange: (exchange: Exchange) => void, onProblem: (problem: ServingProblem) => void): ExchangeSink {
    return (exchange, connection) => {
      this.openExchanges++;
      connection.openExchanges++;
      connection.hasBegun = true;
      exchange.onClose(() => {
        this.openExchanges--;
        connection.openExchanges--;
        this.#tellIfGone();
      });
      // It was new when the others were asked to go.
      if (this.#isClosing) connection.requestClose();
      try {
        onExchange(exchange);
      } catch (error) {
        onProblem({ kind: 'handler', remoteAddress: connection.remoteAddress, message: error instanceof Error ? error.message : String(error) });
        exchange.startStream(500, {}).destroy();
      }
    };
  }

  /** Idle connections end now, new ones after their first exchange, busy ones after their last, and all of them when the grace is over. */
  requestClose(graceMs: number): void {
    this.#isClosing = true;
    const newSinceMs = performance.now() - FIRST_REQUEST_MS;
    for (const connection of this.#connections) if (connection.hasBegun || connection.connectedAtMs < newSinceMs) connection.requestClose();
    if (graceMs <= 0) return this.#cutOff();
    const timers = [setTimeout(() => this.#giveUpNew(), Math.min(FIRST_REQUEST_MS, graceMs)), setTimeout(() => this.#cutOff(), graceMs)];
    for (const timer of timers) timer.unref();
    void this.whenGone().then(() => timers.forEach(clearTimeout));
  }

  /** Those who have connected and asked for nothing. */
  #giveUpNew(): void {
    for (const socket of this.#handshaking.values()) socket.destroy();
    for (const connection of this.#connections) connection.requestClose();
  }

  #cutOff(): void {
    for (const socket of this.#handshaking.values()) socket.destroy();
    for (const { socket } of this.#connections) socket.destroy();
  }

  /** Resolves when nobody is connected and every exchange has been told so. */
  whenGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#goneListeners.push(resolve);
      this.#tellIfGone();
    });
  }

  #tellIfGone(): void {
    if (this.#goneListeners.length === 0 || this.openSockets > 0 || this.openExchanges > 0) return;
    for (const listener of this.#goneListeners.splice(0)) listener();
  }
}

import { IncomingMessage, METHODS, type Server, ServerResponse, createServer } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { withListener } from '../util/listeners.ts';
import { type ResponseBody, normalizeBody, readAll, writeParts } from './body.ts';
import type { Connection, ExchangeSink } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { flatHeaders, hasNoBody, lengthOf, linesOf } from './headers.ts';
import type { ServingLimits, ServingProblem } from './limits.ts';

/** Speaks HTTP/1.x on sockets that are handed to it. */
export interface Http1 {
  serve(connection: Connection): void;
  /** Ends its timers; connections are the listener's to close. */
  close(): void;
}

export interface Http1Options {
  limits: ServingLimits;
  onExchange: ExchangeSink;
  onProblem: (problem: ServingProblem) => void;
}

export function createHttp1({ limits, onExchange, onProblem }: Http1Options): Http1 {
  const connections = new WeakMap<Duplex, Connection>();
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: 0, // a body's deadline is the request's, which filters keep
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headerTimeoutMs, 1000),
  });
  server.maxHeadersCount = limits.headerCount;
  const accept = (request: IncomingMessage, response: ServerResponse, detached?: Detached): void => {
    const connection = connections.get(request.socket);
    if (connection) onExchange(new Http1Exchange(connection, request, response, limits.lingerMs, detached), connection);
  };
  const acceptDetached = (request: IncomingMessage, socket: Duplex, head?: Buffer): void =>
    accept(request, detachedResponse(request, socket), { socket, head });
  server.on('request', accept);
  server.on('checkContinue', accept);
  server.on('upgrade', acceptDetached);
  server.on('connect', (request: IncomingMessage, socket: Duplex) => acceptDetached(request, socket));
  server.on('clientError', (error: ParseError, socket: Duplex) => {
    const connection = connections.get(socket);
    // Behind a request that is still open, there is no place to say anything.
    if (!connection || connection.isClosing || connection.openExchanges > 0) return void socket.destroy();
    connection.isClosing = true;
    const request = parseUnknownMethod(error, connection.socket);
    if (request) return acceptDetached(request, socket);
    onProblem({ kind: 'bad-request', remoteAddress: connection.remoteAddress, message: error.message });
    refuse(error, socket);
  });
  // Node starts the timer that enforces headersTimeout when a server listens; ours never does, it is handed its sockets.
  server.emit('listening');
  return { serve: (connection) => serve(server, connections, connection), close: () => void server.close(() => {}) };
}

function serve(server: Server, connections: WeakMap<Duplex, Connection>, connection: Connection): void {
  const { socket } = connection;
  connections.set(socket, connection);
  connection.setGracefulClose(() => {
    if (connection.openExchanges === 0) socket.destroySoon();
  });
  server.emit('connection', socket);
}

interface ParseError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

/** What Go's server answers to what it cannot read; to a head that does not come, nothing. */
function refuse({ code }: ParseError, socket: Duplex): void {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' || code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`, () => socket.destroy());
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([^\s\0]{1,8192}) HTTP\/1\.([01])\r\n/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;

/**
 * Node's parser refuses methods that it does not know, where upstream lets the handlers say 405. So the head is read here, if it is whole and
 * otherwise in order; the answer closes the connection, since the parser is lost.
 */
function parseUnknownMethod({ code, rawPacket }: ParseError, socket: TLSSocket): IncomingMessage | undefined {
  if (code !== 'HPE_INVALID_METHOD' || !rawPacket) return undefined;
  const end = rawPacket.indexOf('\r\n\r\n');
  const head = rawPacket.toString('latin1', 0, end + 2);
  const line = REQUEST_LINE.exec(head);
  if (end === -1 || !line || METHODS.includes(line[1]!)) return undefined;
  const request = new IncomingMessage(socket);
  const headers: IncomingHttpHeaders = Object.create(null) as IncomingHttpHeaders;
  for (const text of head.slice(line[0].length).split('\r\n').slice(0, -1)) {
    const header = HEADER_LINE.exec(text);
    if (!header) return undefined;
    const value = header[2]!.trim();
    request.rawHeaders.push(header[1]!, value);
    headers[header[1]!.toLowerCase()] ??= value;
  }
  Object.assign(request, {
    method: line[1],
    url: line[2],
    httpVersion: `1.${line[3]}`,
    httpVersionMajor: 1,
    httpVersionMinor: Number(line[3]),
    headers,
    complete: true,
  });
  request.push(null);
  return request;
}

/** A response on a socket that Node's server has let go of (an upgrade, or a parser that gave up). It is the last on its connection. */
function detachedResponse(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as TLSSocket);
  response.once('finish', () => {
    response.detachSocket(socket as TLSSocket);
    (socket as TLSSocket).destroySoon();
  });
  // Node took its own listeners away; without one, a reset would end the process.
  socket.on('error', () => socket.destroy());
  return response;
}

/** The connection of a request that Node's server has let go of. */
interface Detached {
  socket: Duplex;
  /** What the client sent behind its request for an upgrade; undefined when it asked for none. */
  head: Buffer | undefined;
}

/** Go's server reads this much of an unwanted body to keep a connection; beyond it, the connection is closed. */
const UNWANTED_BODY_BYTES = 256 * 1024;

class Http1Exchange implements Exchange {
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  isAnswered = false;
  isClosed = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #lingerMs: number;
  readonly #detached: Detached | undefined;
  #closeListeners: readonly (() => void)[] | undefined;

  constructor(connection: Connection, request: IncomingMessage, response: ServerResponse, lingerMs: number, detached?: Detached) {
    this.connection = connection;
    this.method = request.method ?? 'GET';
    this.target = originForm(request.url ?? '/');
    this.#request = request;
    this.#response = response;
    this.#lingerMs = lingerMs;
    this.#detached = detached;
    (detached?.socket ?? response).once('close', () => this.#closed());
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.#request.httpVersionMinor === 0 ? '1.0' : '1.1';
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  headerValues(name: string): string[] {
    return linesOf(this.#request.rawHeaders, name);
  }

  readBody(limitBytes: number): Promise<Buffer> {
    const length = this.#request.headers['content-length'];
    if (length === undefined || Number(length) <= limitBytes) this.#welcomeBody();
    // Once it has its answer, Node tells a request nothing more of its connection: a deadline's answer would leave the reader waiting for ever.
    return readAll(this.#request, length, limitBytes, (listener) => this.onClose(listener));
  }

  openBody(): Readable | undefined {
    const { 'content-length': length, 'transfer-encoding': encoding } = this.#request.headers;
    if (this.#detached || (encoding === undefined && (length === undefined || Number(length) === 0))) return undefined;
    this.#welcomeBody();
    return this.#request;
  }

  #welcomeBody(): void {
    if (this.#request.headers.expect !== undefined && !this.isAnswered) this.#response.writeContinue();
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed) return;
    const response = this.#response;
    const { sizeBytes, whole, parts } = normalizeBody(body);
    const lingers = this.#mustLinger();
    const isBodiless = this.method === 'HEAD' || hasNoBody(status);
    this.#writeHead(status, headers, lengthOf(this.method, status, body, sizeBytes), lingers);
    if (lingers) this.#endLater(isBodiless ? [] : whole ? [whole] : parts);
    else if (isBodiless || sizeBytes === 0) response.end();
    else if (whole) response.end(whole);
    else writeParts(response, parts, true);
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered || this.isClosed) return closedStream;
    this.#writeHead(status, headers, undefined, false);
    this.#response.flushHeaders();
    return new Http1Stream(this, this.#response, this.method !== 'HEAD' && !hasNoBody(status));
  }

  upgrade(): { socket: Duplex; head: Buffer } | undefined {
    const { socket, head } = this.#detached ?? {};
    if (!socket || !head || this.isAnswered || this.isClosed) return undefined;
    this.isAnswered = true;
    this.#response.detachSocket(socket as TLSSocket);
    return { socket, head };
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners = withListener(this.#closeListeners, listener);
  }

  #writeHead(status: number, headers: ResponseHeaders, contentLength: number | undefined, isLast: boolean): void {
    const response = this.#response;
    if (isLast || this.connection.isClosing) response.shouldKeepAlive = false;
    // Without this, Node announces `Connection: keep-alive` and a timeout on every answer; Go says nothing, since HTTP/1.1 means it anyway.
    if (response.shouldKeepAlive && this.#request.httpVersionMinor === 1) response.removeHeader('connection');
    response.writeHead(status, flatHeaders(headers, contentLength) as string[]);
    this.isAnswered = true;
  }

  /** True when the client has more to send than is worth reading: the answer then goes out, and the connection ends a little later. */
  #mustLinger(): boolean {
    if (this.#request.complete || this.#detached) return false;
    const { 'content-length': length, 'transfer-encoding': encoding, expect } = this.#request.headers;
    if (length === undefined && encoding === undefined) return false;
    return expect !== undefined || length === undefined || Number(length) > UNWANTED_BODY_BYTES;
  }

  /**
   * Closing while a client still sends makes the kernel reset the connection, and the client loses the answer that was on its way. So all but
   * the end is written at once, and what still comes is thrown away until the client is through or its time is up.
   */
  #endLater(parts: readonly Buffer[]): void {
    const response = this.#response;
    const request = this.#request;
    const end = (): void => {
      clearTimeout(timer);
      response.end();
    };
    const timer = setTimeout(end, this.#lingerMs);
    request.once('end', end).once('close', end).resume();
    writeParts(response, parts, false);
    if (parts.length === 0) response.flushHeaders();
  }

  #closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of this.#closeListeners ?? []) listener();
    if (this.connection.isClosing && this.connection.openExchanges === 0) this.connection.socket.destroySoon();
  }
}

/** A proxy's `GET https://host/path` asks for `/path` (RFC 9112 §3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/') || !/^https?:\/\//i.test(target)) return target;
  const path = target.indexOf('/', target.indexOf('//') + 2);
  return path === -1 ? '/' : target.slice(path);
}

let lastChunk: Buffer | undefined;
let lastFrame: Buffer | undefined;

/** A chunk with its frame around it. The last one is kept: a watch event goes to all its watchers in a row. */
function frame(chunk: Buffer): Buffer {
  if (chunk !== lastChunk) {
    lastFrame = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'), chunk, Buffer.from('\r\n')]);
    lastChunk = chunk;
  }
  return lastFrame!;
}

/**
 * Frames chunks itself and writes them to the socket, past Node's ServerResponse (a third cheaper: DEPENDENCIES.md §2). A response that waits
 * behind another (pipelining) or that has no frames (HTTP/1.0) goes the usual way.
 */
class Http1Stream implements ResponseStream {
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #hasBody: boolean;
  readonly #socket: Duplex | undefined;
  readonly #isFramed: boolean;

  constructor(exchange: Exchange, response: ServerResponse, hasBody: boolean) {
    this.#exchange = exchange;
    this.#response = response;
    this.#hasBody = hasBody;
    this.#socket = exchange.httpVersion === '1.1' && response.socket ? response.socket : undefined;
    this.#isFramed = response.chunkedEncoding;
  }

  write(chunk: Buffer): boolean {
    if (!this.#hasBody || chunk.length === 0 || this.#exchange.isClosed || this.#response.writableEnded) return true;
    return this.#socket ? this.#socket.write(this.#isFramed ? frame(chunk) : chunk) : this.#response.write(chunk);
  }

  get bufferedBytes(): number {
    return this.#socket ? this.#socket.writableLength : this.#response.writableLength;
  }

  onDrain(listener: () => void): void {
    (this.#socket ?? this.#response).once('drain', listener);
  }

  end(trailers?: ResponseHeaders): void {
    if (this.#exchange.isClosed) return;
    if (trailers && this.#isFramed) this.#response.addTrailers(trailers as OutgoingHttpHeaders);
    this.#response.end();
  }

  destroy(): void {
    (this.#socket ?? this.#response).destroy();
  }
}

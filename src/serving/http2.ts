import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import {
  type IncomingHttpHeaders as Http2Headers,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
  constants,
  performServerHandshake,
} from 'node:http2';
import { type ResponseBody, normalizeBody, readAll, writeParts } from './body.ts';
import type { Connection, ExchangeSink } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { hasNoBody, lengthOf, linesOf, safeValue } from './headers.ts';
import { useStreamTable } from './http2-streams.ts';
import type { ServingLimits, ServingProblem } from './limits.ts';
import { RateLimit } from './rate-limit.ts';

const { NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM } = constants;

export interface Http2Options {
  limits: ServingLimits;
  onExchange: ExchangeSink;
  onProblem: (problem: ServingProblem) => void;
}

/** Speaks HTTP/2 on connections that are handed to it, through Node's stream API (its compatibility layer costs a fifth more: DEPENDENCIES.md §2). */
export function createHttp2({ limits, onExchange, onProblem }: Http2Options): { serve(connection: Connection): void } {
  const options = sessionOptions(limits);
  return {
    serve(connection) {
      const session = performServerHandshake(connection.socket, options);
      useStreamTable(session);
      const guard = new AbuseGuard(connection, session, limits, onProblem);
      session.setLocalWindowSize(limits.streamWindowBytes * limits.streamsPerConnection);
      session.on('stream', (stream: ServerHttp2Stream, headers: Http2Headers, flags: number, rawHeaders: readonly string[]) => {
        const exchange = new Http2Exchange(connection, stream, headers, flags, rawHeaders);
        stream.once('close', () => guard.onStreamClose(stream, exchange));
        onExchange(exchange, connection);
      });
      session.on('error', (error) => onProblem({ kind: 'http2-session', remoteAddress: connection.remoteAddress, message: error.message }));
      session.setTimeout(limits.idleTimeoutMs, () => {
        if (connection.openExchanges === 0) session.close();
      });
      connection.setGracefulClose(() => session.close());
    },
  };
}

function sessionOptions(limits: ServingLimits): ServerOptions {
  return {
    // A connection's lists and watches wait in its memory while the client reads slowly; past this, new requests are refused.
    maxSessionMemory: 64,
    maxHeaderListPairs: limits.headerCount,
    maxSessionInvalidFrames: 100,
    settings: {
      maxConcurrentStreams: limits.streamsPerConnection,
      initialWindowSize: limits.streamWindowBytes,
      maxFrameSize: limits.streamWindowBytes,
      maxHeaderListSize: limits.headerBytes,
      enablePush: false,
    },
  };
}

/** Ends connections whose client makes more work than requests: resets, pings and settings (SECURITY-CASES.md). */
class AbuseGuard {
  readonly #connection: Connection;
  readonly #session: ServerHttp2Session;
  readonly #onProblem: (problem: ServingProblem) => void;
  readonly #unansweredResets: RateLimit;
  readonly #resets: RateLimit;

  constructor(connection: Connection, session: ServerHttp2Session, limits: ServingLimits, onProblem: (problem: ServingProblem) => void) {
    this.#connection = connection;
    this.#session = session;
    this.#onProblem = onProblem;
    this.#unansweredResets = new RateLimit(limits.unansweredResetsPerSecond);
    this.#resets = new RateLimit(limits.resetsPerSecond);
    const controlFrames = new RateLimit(limits.controlFramesPerSecond);
    const onControlFrame = (): void => {
      if (!controlFrames.allow(Date.now())) this.#end('too many control frames');
    };
    session.on('ping', onControlFrame).on('remoteSettings', onControlFrame);
  }

  onStreamClose(stream: ServerHttp2Stream, exchange: Http2Exchange): void {
    if (stream.rstCode === NGHTTP2_NO_ERROR || exchange.isCutOff) return;
    const nowMs = Date.now();
    const isAllowed = this.#resets.allow(nowMs) && (exchange.isAnswered || this.#unansweredResets.allow(nowMs));
    if (!isAllowed) this.#end('too many streams reset');
  }

  #end(message: string): void {
    if (this.#session.destroyed) return;
    this.#onProblem({ kind: 'http2-abuse', remoteAddress: this.#connection.remoteAddress, message });
    this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
    // The session would end the socket politely and wait for a client that has no intention to.
    this.#connection.socket.destroy();
  }
}

const ignoreError = (): void => {}; // the stream's close tells all there is to know

class Http2Exchange implements Exchange {
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly httpVersion = '2.0';
  isAnswered = false;
  isClosed = false;
  /** True when it was us who reset the stream. */
  isCutOff = false;
  readonly #headers: IncomingHttpHeaders;
  readonly #stream: ServerHttp2Stream;
  readonly #rawHeaders: readonly string[];
  readonly #hasBody: boolean;
  #closeListeners: (() => void)[] | undefined;

  constructor(connection: Connection, stream: ServerHttp2Stream, headers: Http2Headers, flags: number, rawHeaders: readonly string[]) {
    this.connection = connection;
    this.method = headers[':method'] ?? 'GET';
    this.target = headers[':path'] ?? '/';
    this.#headers = withoutPseudoHeaders(headers);
    this.#stream = stream;
    this.#rawHeaders = rawHeaders;
    this.#hasBody = (flags & NGHTTP2_FLAG_END_STREAM) === 0;
    stream.on('error', ignoreError);
    stream.once('close', () => this.#closed());
  }

  get headers(): IncomingHttpHeaders {
    return this.#headers;
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  headerValues(name: string): string[] {
    return linesOf(this.#rawHeaders, name);
  }

  readBody(limitBytes: number): Promise<Buffer> {
    if (!this.#hasBody) return Promise.resolve(Buffer.alloc(0));
    const length = this.#headers['content-length'];
    if (length === undefined || Number(length) <= limitBytes) this.#welcomeBody();
    return readAll(this.#stream, length, limitBytes);
  }

  openBody(): Readable | undefined {
    if (!this.#hasBody) return undefined;
    this.#welcomeBody();
    return this.#stream;
  }

  #welcomeBody(): void {
    if (this.#headers.expect === '100-continue' && !this.isAnswered && !this.isClosed) this.#stream.additionalHeaders({ ':status': 100 });
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed || this.#stream.closed || this.#stream.destroyed) return;
    const stream = this.#stream;
    const { sizeBytes, whole, parts } = normalizeBody(body);
    const isBodiless = sizeBytes === 0 || this.method === 'HEAD' || hasNoBody(status);
    stream.respond(wireHeaders(status, headers, lengthOf(this.method, status, body, sizeBytes)), isBodiless ? { endStream: true } : undefined);
    this.isAnswered = true;
    if (this.#hasBody) this.#dropUnreadBody();
    if (isBodiless) return;
    if (whole) stream.end(whole);
    else writeParts(stream, parts, true);
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered || this.isClosed || this.#stream.closed || this.#stream.destroyed) return closedStream;
    const isBodiless = this.method === 'HEAD' || hasNoBody(status);
    const hasTrailers = headers.trailer !== undefined;
    this.#stream.respond(wireHeaders(status, headers, undefined), isBodiless ? { endStream: true } : hasTrailers ? { waitForTrailers: true } : undefined);
    this.isAnswered = true;
    if (this.#hasBody) this.#dropUnreadBody();
    return isBodiless ? closedStream : new Http2ResponseStream(this, this.#stream, hasTrailers);
  }

  upgrade(): undefined {
    return undefined;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else (this.#closeListeners ??= []).push(listener);
  }

  /** A body that nobody read: once the answer is out, the client is told to stop sending (RFC 9113 §8.1), as Go's server does. */
  #dropUnreadBody(): void {
    const stream = this.#stream;
    if (stream.readableEnded) return;
    stream.once('finish', () => stream.close(NGHTTP2_NO_ERROR));
  }

  #closed(): void {
    this.isClosed = true;
    for (const listener of this.#closeListeners ?? []) listener();
  }
}

/** Changes the object that Node made for this request alone; a copy would cost more than the rest of the exchange. */
function withoutPseudoHeaders(headers: Http2Headers): IncomingHttpHeaders {
  if (headers.host === undefined && headers[':authority'] !== undefined) headers.host = headers[':authority'];
  for (const name of [':method', ':path', ':scheme', ':authority']) delete headers[name];
  return headers as IncomingHttpHeaders;
}

function wireHeaders(status: number, headers: ResponseHeaders, contentLength: number | undefined): OutgoingHttpHeaders {
  const wire: OutgoingHttpHeaders = { ':status': status };
  for (const name in headers) {
    const value = headers[name]!;
    wire[name] = typeof value === 'string' ? safeValue(value) : Array.isArray(value) ? value.map(safeValue) : value;
  }
  if (contentLength !== undefined) wire['content-length'] ??= contentLength;
  return wire;
}

class Http2ResponseStream implements ResponseStream {
  readonly #exchange: Http2Exchange;
  readonly #stream: ServerHttp2Stream;
  #trailers: ResponseHeaders = {};

  constructor(exchange: Http2Exchange, stream: ServerHttp2Stream, hasTrailers: boolean) {
    this.#exchange = exchange;
    this.#stream = stream;
    if (hasTrailers) stream.once('wantTrailers', () => stream.sendTrailers(this.#trailers));
  }

  write(chunk: Buffer): boolean {
    if (this.#stream.destroyed || this.#stream.writableEnded || chunk.length === 0) return true;
    return this.#stream.write(chunk);
  }

  get bufferedBytes(): number {
    return this.#stream.writableLength;
  }

  onDrain(listener: () => void): void {
    this.#stream.once('drain', listener);
  }

  end(trailers: ResponseHeaders = {}): void {
    this.#trailers = trailers;
    if (!this.#stream.destroyed) this.#stream.end();
  }

  destroy(): void {
    this.#exchange.isCutOff = true;
    this.#stream.destroy(new Error('cut off'));
  }
}

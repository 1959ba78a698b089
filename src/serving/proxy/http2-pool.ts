import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ResponseHeaders } from '../exchange.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendRequest, BackendResponse } from './transport.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

/** As client-go sets Go's transport (apimachinery/pkg/util/net): a connection that is silent for so long is asked whether it lives. */
const SILENCE_MS = 30_000;
const PING_TIMEOUT_MS = 15_000;
/** Silences without a request, until a connection is given up. */
const IDLE_SILENCES = 3;
const SETTINGS_TIMEOUT_MS = 10_000;
/** What one answer may hold in our memory while its client is slow. The connection's window has room for all: no client stops another. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const MAX_STREAMS = 1_000;

/** HTTP/2 connections to one backend. Each takes as many requests at a time as the backend allows. */
export class Http2Pool {
  readonly #authority: string;
  readonly #sessions: Session[] = [];

  constructor(authority: string) {
    this.#authority = authority;
  }

  /** Resolves when the backend has said how much it takes. */
  async add(socket: TLSSocket): Promise<void> {
    const session = await openSession(this.#authority, socket);
    this.#sessions.push(session);
    session.http2.once('close', () => this.#forget(session));
    session.http2.once('goaway', () => this.#forget(session));
    if (session.http2.closed || session.http2.destroyed) this.#forget(session);
  }

  /** Undefined where no connection has room. */
  send(request: BackendRequest): BackendCall | undefined {
    for (const session of this.#sessions) if (session.openStreams < session.maxStreams) return sendOn(session, request, this.#authority);
    return undefined;
  }

  closeIdle(): void {
    for (const { http2, openStreams } of [...this.#sessions]) if (openStreams === 0) http2.close();
  }

  retire(): void {
    for (const session of [...this.#sessions]) this.#forget(session);
  }

  close(): void {
    for (const { http2 } of [...this.#sessions]) http2.destroy();
  }

  #forget(session: Session): void {
    const at = this.#sessions.indexOf(session);
    if (at >= 0) this.#sessions.splice(at, 1);
    if (!session.http2.destroyed) session.http2.close();
  }
}

interface Session {
  http2: ClientHttp2Session;
  openStreams: number;
  maxStreams: number;
  isUsed: boolean;
}

function openSession(authority: string, socket: TLSSocket): Promise<Session> {
  const http2 = connect(`https://${authority}`, {
    createConnection: () => socket,
    settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => http2.destroy(new Error('http2: timeout awaiting settings')), SETTINGS_TIMEOUT_MS);
    http2.on('error', reject); // stays: what goes wrong later is told by the streams
    http2.once('close', () => {
      clearTimeout(timer);
      reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    });
    http2.once('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }) => {
      clearTimeout(timer);
      const session = { http2, openStreams: 0, maxStreams: Math.min(maxConcurrentStreams, MAX_STREAMS), isUsed: false };
      http2.setLocalWindowSize(STREAM_WINDOW_BYTES * session.maxStreams);
      watchOver(session);
      resolve(session);
    });
  });
}

/** Finds connections that are dead without anyone having said so, and ends those that nobody uses. */
function watchOver(session: Session): void {
  const { http2 } = session;
  let idleSilences = 0;
  http2.setTimeout(SILENCE_MS, () => {
    idleSilences = session.openStreams === 0 ? idleSilences + 1 : 0;
    if (idleSilences >= IDLE_SILENCES) return http2.close();
    const timer = setTimeout(() => http2.destroy(new Error('http2: client connection lost')), PING_TIMEOUT_MS);
    const isSent = http2.ping((error) => {
      clearTimeout(timer);
      if (error && !http2.destroyed) http2.destroy();
    });
    if (!isSent) clearTimeout(timer);
  });
}

function sendOn(session: Session, { method, path, headers, hostHeader, body }: BackendRequest, authority: string): BackendCall {
  headers[':method'] = method;
  headers[':path'] = path;
  headers[':scheme'] = 'https';
  headers[':authority'] = hostHeader ?? authority;
  const stream = session.http2.request(headers, { endStream: !body });
  const wasUsed = session.isUsed;
  session.isUsed = true;
  session.openStreams++;
  const response = new Promise<BackendResponse>((resolve, reject) => {
    let failure: Error | undefined;
    stream.once('response', (received) => resolve(responseOf(stream, received)));
    stream.on('error', (error) => (failure = error));
    stream.once('close', () => {
      session.openStreams--;
      if (session.openStreams === 0 && session.http2.closed) session.http2.destroy();
      reject(lost(stream, wasUsed, failure));
    });
  });
  if (body) sendBody(body, stream);
  return { response, cancel: () => void (stream.destroyed || stream.close(NGHTTP2_CANCEL)) };
}

let noFailure: Error | undefined;

/** Why a stream has closed. Where the answer is there already nobody asks, and the error is not worth its stack. */
function lost(stream: ClientHttp2Stream, wasUsed: boolean, failure: Error | undefined): Error {
  if (!failure && stream.rstCode === NGHTTP2_NO_ERROR) return (noFailure ??= Object.assign(new Error('EOF'), { code: 'ECONNRESET' }));
  const error = failure ?? new Error(`stream error: stream ID ${stream.id}; code ${stream.rstCode}`);
  const isUnseen = stream.rstCode === NGHTTP2_REFUSED_STREAM || (wasUsed && stream.session?.destroyed !== false);
  return isUnseen ? new StaleConnection(error) : error;
}

function sendBody(body: NonNullable<BackendRequest['body']>, stream: ClientHttp2Stream): void {
  body.once('close', () => {
    if (!body.readableEnded && !stream.destroyed) stream.close(NGHTTP2_CANCEL);
  });
  body.pipe(stream);
}

/** The object that Node made for this answer alone is changed, not copied. */
function responseOf(stream: ClientHttp2Stream, headers: IncomingHttpHeaders & { ':status'?: number }): BackendResponse {
  let trailers: ResponseHeaders | undefined;
  if (headers['trailer'] !== undefined) stream.once('trailers', (received) => (trailers = received as ResponseHeaders));
  const status = headers[':status'] ?? 0;
  delete headers[':status'];
  return { status, headers: headers as ResponseHeaders, body: stream, trailers: () => trailers };
}

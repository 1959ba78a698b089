import type { OutgoingHttpHeaders } from 'node:http';
import { type Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Exchange, ResponseHeaders, ResponseStream } from '../exchange.ts';
import { hasNoBody } from '../headers.ts';
import { isApiError, serviceUnavailable } from '../../api/errors.ts';
import { goNetworkError } from '../../net/network-error.ts';
import { WHOLE_BYTES, streamOf } from './answer.ts';
import { cleanResponseHeaders, requestHeaders } from './headers.ts';
import { StaleConnection } from './stale-connection.ts';
import type { BackendCall, BackendResponse, Transport } from './transport.ts';
import { onAbort } from '../../util/on-abort.ts';

/** Where a request goes. */
export interface ProxyTarget {
  transport: Transport;
  host: string;
  port: number;
  /** Path and query, as they are sent. */
  path: string;
}

export interface ForwardOptions {
  /** Put in place of the client's: who it is, audit id, … Lower-case names. */
  headers?: OutgoingHttpHeaders;
  /** `Host` to send, where it is not the target's. */
  hostHeader?: string;
  /** What the proxy calls itself to the backend (`X-Forwarded-Uri`, `-Host`, `-Proto`). */
  forwarded?: { uri: string; host: string; proto: string };
  /** A redirect with a place to go to is answered 502 in its stead (CVE-2022-3172). */
  rejectsRedirects?: boolean;
  /** Resolves when the answer has begun; else when it is over, as far as we are concerned. */
  isLongRunning?: boolean;
  /** Gives up: the client's time is up. */
  signal?: AbortSignal | undefined;
  /** The answer as the client gets it, for those who rewrite it. Headers may be changed; a body that is another replaces the old. */
  rewrite?: (response: BackendResponse) => BackendResponse;
}

const REDIRECT_REFUSED = 'the backend attempted to redirect this request, which is not permitted';

/**
 * Sends a request on to a backend and its answer back, both as streams at the speed of the slower side. When the client goes, so does the backend's
 * request. Where no answer comes, throws serviceUnavailable as upstream words it; how that reaches the client is the caller's to say.
 */
export async function forward(exchange: Exchange, target: ProxyTarget, options: ForwardOptions = {}): Promise<void> {
  const headers = outgoingHeaders(exchange, options);
  const isUnpacked = asksForGzip(exchange, headers);
  const call = target.transport.send({
    host: target.host,
    port: target.port,
    method: exchange.method,
    path: target.path,
    headers,
    hostHeader: options.hostHeader,
    body: exchange.openBody(),
  });
  const cancel = (): void => call.cancel();
  exchange.onClose(cancel);
  if (options.signal) exchange.onClose(onAbort(options.signal, cancel));
  try {
    const received = isUnpacked ? unpacked(await call.response) : await call.response;
    received.headers = cleanResponseHeaders(received.headers, exchange.ownHeaders);
    const response = options.rewrite ? options.rewrite(received) : received;
    if (options.rejectsRedirects && isRedirect(response)) return refuseRedirect(exchange, call);
    const passed = passOn(exchange, response);
    if (!options.isLongRunning) await passed;
    else await (exchange.isAnswered ? undefined : passed);
  } catch (error) {
    if (exchange.isAnswered || exchange.isClosed) return;
    throw unreachable(error as Error, options.signal);
  }
}

function outgoingHeaders(exchange: Exchange, { headers: own, forwarded }: ForwardOptions): OutgoingHttpHeaders {
  const headers = requestHeaders(exchange);
  if (forwarded) {
    headers['x-forwarded-uri'] = forwarded.uri;
    headers['x-forwarded-host'] = forwarded.host;
    headers['x-forwarded-proto'] = forwarded.proto;
  }
  for (const name in own) headers[name] = own[name];
  return headers;
}

/** Go's transport asks backends for gzip where the client has said nothing, and unpacks what comes (net/http, Transport.DisableCompression). */
function asksForGzip({ method }: Exchange, headers: OutgoingHttpHeaders): boolean {
  if (headers['accept-encoding'] !== undefined || headers['range'] !== undefined || method === 'HEAD') return false;
  headers['accept-encoding'] = 'gzip';
  return true;
}

function unpacked(response: BackendResponse): BackendResponse {
  if (String(response.headers['content-encoding'] ?? '').toLowerCase() !== 'gzip') return response;
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = response.headers;
  // Whoever reads it learns of a failure: it is destroyed.
  return { ...response, headers, body: pipeline(streamOf(response.body), createGunzip(), () => {}) };
}

const isRedirect = ({ status, headers }: BackendResponse): boolean => status >= 300 && status <= 399 && (headers['location'] ?? '') !== '';

function refuseRedirect(exchange: Exchange, call: BackendCall): void {
  call.cancel();
  exchange.respond(502, { 'content-type': 'text/plain; charset=utf-8' }, REDIRECT_REFUSED);
}

/** A failure to get any answer, as upstream's proxy transport words it. */
function unreachable(error: Error, signal: AbortSignal | undefined): Error {
  if (isApiError(error)) return error;
  const reason: unknown = signal?.aborted ? signal.reason : undefined;
  const cause = reason instanceof Error ? reason : error instanceof StaleConnection ? error.cause : error;
  return serviceUnavailable(`error trying to reach service: ${goNetworkError(cause)}`);
}

/** Answers with a backend's answer, headers and all. Resolves when all of it has left, or the client has gone. */
export function passOn(exchange: Exchange, { status, headers, body, trailers }: BackendResponse): Promise<void> | void {
  if (exchange.method === 'HEAD' || hasNoBody(status)) {
    if (!Buffer.isBuffer(body)) body.resume();
    return exchange.respond(status, headers);
  }
  const isWhole = Buffer.isBuffer(body);
  // Trailers follow a stream alone.
  if (isWhole && headers['trailer'] === undefined) return exchange.respond(status, headers, body);
  if (!isWhole && Number(headers['content-length'] ?? Infinity) <= WHOLE_BYTES) return answerWhole(exchange, { status, headers, body });
  const stream = exchange.startStream(status, headers);
  if (!isWhole) return pump(body, stream, trailers);
  stream.write(body);
  stream.end(trailers());
}

/** Rejects where the backend breaks off: nothing has left so far, so the client can be told. */
function answerWhole(exchange: Exchange, { status, headers, body }: { status: number; headers: ResponseHeaders; body: Readable }): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.once('end', () => {
      exchange.respond(status, headers, chunks);
      resolve();
    });
    body.once('close', () => {
      if (!body.readableEnded) reject(new Error('unexpected EOF'));
    });
  });
}

/** At the speed of the client. A body that breaks off cuts the client's answer off too: it must not take it for whole. */
function pump(body: Readable, stream: ResponseStream, trailers: BackendResponse['trailers']): Promise<void> {
  return new Promise((resolve) => {
    body.on('data', (chunk: Buffer) => {
      if (stream.write(chunk)) return;
      body.pause();
      stream.onDrain(() => body.resume());
    });
    body.once('end', () => {
      stream.end(trailers());
      resolve();
    });
    body.once('close', () => {
      if (!body.readableEnded) stream.destroy();
      resolve();
    });
  });
}

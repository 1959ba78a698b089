import { BlockWriter, type HeaderFields } from '../http2/hpack.ts';
import type { Http2RequestHead } from '../http2/request-head.ts';
import type { ServerConnection, ServerStream, ServerStreamEvents } from '../http2/server-connection.ts';
import { byteSizeOf } from '../util/byte-size.ts';
import { type ResponseBody, partsOf } from './body.ts';
import type { Connection } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { hasNoBody, httpDate, lengthOf, safeValue } from './headers.ts';
import { HttpExchange } from './http-exchange.ts';
import { withListener } from '../util/listeners.ts';

/** One block is written at a time, and whoever begins one clears it: another may have failed on a header that cannot be written. */
const writer = new BlockWriter();

/** A request on a stream of HTTP/2, and its answer. */
export class Http2Exchange extends HttpExchange implements Exchange, ServerStreamEvents {
  readonly httpVersion = '2.0';
  readonly #http2: ServerConnection;
  readonly #stream: ServerStream;
  #drainListeners: readonly (() => void)[] | undefined;

  constructor(connection: Connection, http2: ServerConnection, stream: ServerStream, head: Http2RequestHead, fields: HeaderFields, hasBody: boolean) {
    super(connection, head, fields, hasBody);
    this.#http2 = http2;
    this.#stream = stream;
  }

  protected override release(sizeBytes: number): void {
    this.#http2.release(this.#stream, sizeBytes);
  }

  protected override welcomeBody(): void {
    if (this.headers.expect !== '100-continue' || this.isAnswered || this.isClosed) return;
    writer.clear();
    writer.add(':status', '100');
    this.#http2.inform(this.#stream, writer);
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed) return;
    const parts = partsOf(body);
    const sizeBytes = byteSizeOf(parts);
    const isBodiless = sizeBytes === 0 || this.method === 'HEAD' || hasNoBody(status);
    this.#begin(status, headers, lengthOf(this.method, status, body, sizeBytes), isBodiless);
    if (!isBodiless) this.#http2.sendAll(this.#stream, parts, sizeBytes);
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered || this.isClosed) return closedStream;
    const isBodiless = this.method === 'HEAD' || hasNoBody(status);
    this.#begin(status, headers, undefined, isBodiless);
    return isBodiless ? closedStream : new Http2ResponseStream(this, this.#http2, this.#stream, headers['trailer'] !== undefined);
  }

  #begin(status: number, headers: ResponseHeaders, contentLength: number | undefined, isBodiless: boolean): void {
    writer.clear();
    writer.add(':status', String(status));
    addFields(headers);
    if (contentLength !== undefined && headers['content-length'] === undefined) writer.add('content-length', String(contentLength));
    if (headers['date'] === undefined) writer.add('date', httpDate());
    this.isAnswered = true;
    this.#http2.answer(this.#stream, writer, isBodiless);
  }

  upgrade(): undefined {
    return undefined;
  }

  waitForDrain(listener: () => void): void {
    this.#drainListeners = withListener(this.#drainListeners, listener);
  }

  onDrain(): void {
    const listeners = this.#drainListeners;
    this.#drainListeners = undefined;
    for (const listener of listeners ?? []) listener();
  }
}

function addFields(headers: ResponseHeaders): void {
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === 'string') writer.add(name, safeValue(value));
    else if (typeof value === 'number') writer.add(name, String(value));
    else for (const line of value) writer.add(name, safeValue(line));
  }
}

class Http2ResponseStream implements ResponseStream {
  readonly #exchange: Http2Exchange;
  readonly #http2: ServerConnection;
  readonly #stream: ServerStream;
  readonly #hasTrailers: boolean;

  constructor(exchange: Http2Exchange, http2: ServerConnection, stream: ServerStream, hasTrailers: boolean) {
    this.#exchange = exchange;
    this.#http2 = http2;
    this.#stream = stream;
    this.#hasTrailers = hasTrailers;
  }

  write(chunk: Buffer): boolean {
    if (chunk.length === 0 || this.#stream.body.isComplete) return true;
    return this.#http2.send(this.#stream, chunk, false);
  }

  get bufferedBytes(): number {
    return this.#http2.bufferedBytes(this.#stream);
  }

  onDrain(listener: () => void): void {
    this.#exchange.waitForDrain(listener);
  }

  end(trailers: ResponseHeaders = {}): void {
    if (!this.#hasTrailers) return this.#http2.end(this.#stream, undefined);
    writer.clear();
    addFields(trailers);
    this.#http2.end(this.#stream, writer);
  }

  destroy(): void {
    this.#http2.cut(this.#stream);
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { BlockWriter, type Fields } from '../http2/hpack.ts';
import type { RequestHead } from '../http2/request-head.ts';
import type { ServerConnection, ServerStream, ServerStreamEvents } from '../http2/server-connection.ts';
import { type ResponseBody, tooLarge } from './body.ts';
import type { Connection } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { hasNoBody, httpDate, lengthOf, linesOf, safeValue } from './headers.ts';
import { IncomingBody } from './incoming-body.ts';
import { withListener } from '../util/listeners.ts';

const NOTHING = Buffer.alloc(0);
/** One block is written at a time, and whoever begins one clears it: another may have failed on a header that cannot be written. */
const writer = new BlockWriter();

/** A request on a stream of HTTP/2, and its answer. */
export class Http2Exchange implements Exchange, ServerStreamEvents {
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion = '2.0';
  isAnswered = false;
  isClosed = false;
  readonly #http2: ServerConnection;
  readonly #stream: ServerStream;
  readonly #fields: Fields;
  readonly #body: IncomingBody | undefined;
  #closeListeners: readonly (() => void)[] | undefined;
  #drainListeners: readonly (() => void)[] | undefined;

  constructor(connection: Connection, http2: ServerConnection, stream: ServerStream, head: RequestHead, fields: Fields, hasBody: boolean) {
    this.connection = connection;
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.#http2 = http2;
    this.#stream = stream;
    this.#fields = fields;
    this.#body = hasBody ? new IncomingBody((sizeBytes) => http2.release(stream, sizeBytes)) : undefined;
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  headerValues(name: string): string[] {
    return linesOf(this.#fields, name);
  }

  readBody(limitBytes: number): Promise<Buffer> {
    if (!this.#body) return Promise.resolve(NOTHING);
    if (Number(this.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge(limitBytes));
    this.#welcomeBody();
    return this.#body.read(limitBytes);
  }

  openBody(): Readable | undefined {
    if (!this.#body) return undefined;
    this.#welcomeBody();
    return this.#body.open();
  }

  #welcomeBody(): void {
    if (this.headers.expect !== '100-continue' || this.isAnswered || this.isClosed) return;
    writer.clear();
    writer.add(':status', '100');
    this.#http2.inform(this.#stream, writer);
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed) return;
    const parts = partsOf(body);
    let sizeBytes = 0;
    for (const part of parts) sizeBytes += part.length;
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

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners = withListener(this.#closeListeners, listener);
  }

  waitForDrain(listener: () => void): void {
    this.#drainListeners = withListener(this.#drainListeners, listener);
  }

  onData(piece: Buffer): void {
    this.#body!.push(piece);
  }

  onBodyEnd(): void {
    this.#body!.end();
  }

  onDrain(): void {
    const listeners = this.#drainListeners;
    this.#drainListeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  onOver(): void {
    this.isClosed = true;
    this.#body?.breakOff();
    for (const listener of this.#closeListeners ?? []) listener();
  }
}

function partsOf(body: ResponseBody | undefined): readonly Buffer[] {
  if (body === undefined) return [];
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
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

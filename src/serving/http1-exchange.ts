import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Fields } from '../http1/fields.ts';
import type { RequestHead } from '../http1/request-head.ts';
import { type RequestEvents, type ServerConnection, UNWANTED_BODY_BYTES } from '../http1/server-connection.ts';
import { withListener } from '../util/listeners.ts';
import { type ResponseBody, sizeOf, tooLarge, writeParts } from './body.ts';
import type { Connection } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { hasNoBody, lengthOf, linesOf } from './headers.ts';
import { answerHead, chunkFrame, lastChunkFrame } from './http1-head.ts';
import { IncomingBody } from './incoming-body.ts';

const NOTHING = Buffer.alloc(0);
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
/** A larger body is written as it is, behind its head. */
const JOINED_BYTES = 64 * 1024;

/** A request of HTTP/1.1, and its answer. */
export class Http1Exchange implements Exchange, RequestEvents {
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: '1.0' | '1.1';
  isAnswered = false;
  isClosed = false;
  readonly #http1: ServerConnection;
  readonly #fields: Fields;
  readonly #bodyBytes: number;
  readonly #isKept: boolean;
  readonly #isUpgrade: boolean;
  readonly #body: IncomingBody | undefined;
  /** The client waits for a word before it sends its body. */
  #isAwaited: boolean;
  #closeListeners: readonly (() => void)[] | undefined;

  constructor(connection: Connection, http1: ServerConnection, head: RequestHead, hasBody: boolean) {
    this.connection = connection;
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.httpVersion = head.minorVersion === 0 ? '1.0' : '1.1';
    this.#http1 = http1;
    this.#fields = head.fields;
    this.#bodyBytes = head.bodyBytes;
    this.#isKept = head.isKept && !head.isUpgrade;
    this.#isUpgrade = head.isUpgrade && head.method !== 'CONNECT';
    this.#body = hasBody ? new IncomingBody((sizeBytes) => this.#release(sizeBytes)) : undefined;
    this.#isAwaited = hasBody && head.headers.expect !== undefined && head.minorVersion === 1;
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  headerValues(name: string): string[] {
    return linesOf(this.#fields, name);
  }

  readBody(limitBytes: number): Promise<Buffer> {
    if (!this.#body) return Promise.resolve(NOTHING);
    if (this.#bodyBytes !== Infinity && this.#bodyBytes > limitBytes) return Promise.reject(tooLarge(limitBytes));
    this.#welcomeBody();
    return this.#body.read(limitBytes);
  }

  openBody(): Readable | undefined {
    if (!this.#body) return undefined;
    this.#welcomeBody();
    return this.#body.open();
  }

  #welcomeBody(): void {
    if (!this.#isAwaited || this.isAnswered || this.isClosed) return;
    this.#isAwaited = false;
    this.#http1.write(CONTINUE);
  }

  #release(sizeBytes: number): void {
    if (!this.isClosed) this.#http1.release(sizeBytes);
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed) return;
    const sizeBytes = sizeOf(body);
    const isLast = !this.#isKept || this.#http1.isClosing || this.#mustEnd();
    const head = answerHead(status, headers, lengthOf(this.method, status, body, sizeBytes), this.#connectionLine(isLast));
    this.isAnswered = true;
    const isBodiless = sizeBytes === 0 || this.method === 'HEAD' || hasNoBody(status);
    if (isBodiless || head.length + sizeBytes <= JOINED_BYTES) {
      this.#http1.write(joined(head, isBodiless ? NOTHING : body!, isBodiless ? 0 : sizeBytes));
      return this.#http1.complete(isLast);
    }
    this.#http1.write(Buffer.from(head, 'latin1'));
    writeParts(this.#http1, partsOf(body!), () => this.#http1.complete(isLast));
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered || this.isClosed) return closedStream;
    const isBodiless = this.method === 'HEAD' || hasNoBody(status);
    const isFramed = !isBodiless && headers['content-length'] === undefined && this.httpVersion === '1.1';
    const isOpenEnded = !isBodiless && !isFramed && headers['content-length'] === undefined;
    const isLast = !this.#isKept || this.#http1.isClosing || isOpenEnded;
    const framing = `${isFramed ? 'Transfer-Encoding: chunked\r\n' : ''}${this.#connectionLine(isLast)}`;
    const head = answerHead(status, headers, undefined, framing);
    this.isAnswered = true;
    this.#http1.write(Buffer.from(head, 'latin1'));
    if (!isBodiless) return new Http1Stream(this, this.#http1, isFramed, isFramed && headers['trailer'] !== undefined, isLast);
    this.endStream(isLast);
    return closedStream;
  }

  /** All of a stream was written. */
  endStream(isLast: boolean): void {
    this.#http1.complete(isLast || this.#mustEnd());
  }

  /** What is said of the connection. Of HTTP/1.1, to keep it goes without saying. */
  #connectionLine(isLast: boolean): string {
    if (isLast) return 'Connection: close\r\n';
    return this.httpVersion === '1.0' ? 'Connection: keep-alive\r\n' : '';
  }

  /** True when the client has more to send than is worth reading, or waits to be asked for it. */
  #mustEnd(): boolean {
    const missingBytes = this.#http1.missingBytes;
    return missingBytes > 0 && (this.headers.expect !== undefined || missingBytes > UNWANTED_BODY_BYTES);
  }

  upgrade(): { socket: Duplex; head: Buffer } | undefined {
    if (!this.#isUpgrade || this.isAnswered || this.isClosed) return undefined;
    this.isAnswered = true;
    return this.#http1.detach();
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners = withListener(this.#closeListeners, listener);
  }

  onData(piece: Buffer): void {
    this.#body!.push(piece);
  }

  onBodyEnd(): void {
    this.#body!.end();
  }

  onOver(): void {
    this.isClosed = true;
    this.#body?.breakOff();
    for (const listener of this.#closeListeners ?? []) listener();
  }
}

/** In one buffer: a write costs more than the copy. */
function joined(head: string, body: ResponseBody, sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + sizeBytes);
  let at = bytes.write(head, 'latin1');
  if (typeof body === 'string') bytes.write(body, at, 'utf8');
  else if (Buffer.isBuffer(body)) body.copy(bytes, at);
  else for (const part of body) at += part.copy(bytes, at);
  return bytes;
}

function partsOf(body: ResponseBody): readonly Buffer[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}

class Http1Stream implements ResponseStream {
  readonly #exchange: Http1Exchange;
  readonly #http1: ServerConnection;
  readonly #isFramed: boolean;
  readonly #hasTrailers: boolean;
  readonly #isLast: boolean;
  #isEnded = false;

  constructor(exchange: Http1Exchange, http1: ServerConnection, isFramed: boolean, hasTrailers: boolean, isLast: boolean) {
    this.#exchange = exchange;
    this.#http1 = http1;
    this.#isFramed = isFramed;
    this.#hasTrailers = hasTrailers;
    this.#isLast = isLast;
  }

  write(chunk: Buffer): boolean {
    if (chunk.length === 0 || this.#isEnded || this.#exchange.isClosed) return true;
    return this.#http1.write(this.#isFramed ? chunkFrame(chunk) : chunk);
  }

  get bufferedBytes(): number {
    return this.#exchange.isClosed ? 0 : this.#http1.bufferedBytes;
  }

  onDrain(listener: () => void): void {
    if (!this.#exchange.isClosed) this.#http1.onceDrained(listener);
  }

  end(trailers?: ResponseHeaders): void {
    if (this.#isEnded || this.#exchange.isClosed) return;
    this.#isEnded = true;
    if (this.#isFramed) this.#http1.write(lastChunkFrame(this.#hasTrailers ? trailers : undefined));
    this.#exchange.endStream(this.#isLast);
  }

  destroy(): void {
    if (!this.#exchange.isClosed) this.#http1.cut();
  }
}

import type { Duplex } from 'node:stream';
import type { Http1RequestHead } from '../http1/request-head.ts';
import { type RequestEvents, type ServerConnection, UNWANTED_BODY_BYTES } from '../http1/server-connection.ts';
import { byteSizeOf } from '../util/byte-size.ts';
import { type ResponseBody, partsOf, writeParts } from './body.ts';
import type { Connection } from './connection.ts';
import { type Exchange, type ResponseHeaders, type ResponseStream, closedStream } from './exchange.ts';
import { hasNoBody, lengthOf } from './headers.ts';
import { HttpExchange } from './http-exchange.ts';
import { answerHead, chunkFrame, lastChunkFrame } from './http1-head.ts';

const NOTHING = Buffer.alloc(0);
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
/** A larger body is written as it is, behind its head. */
const JOINED_BYTES = 64 * 1024;

/** A request of HTTP/1.1, and its answer. */
export class Http1Exchange extends HttpExchange implements Exchange, RequestEvents {
  readonly httpVersion: '1.0' | '1.1';
  readonly #http1: ServerConnection;
  readonly #isKept: boolean;
  readonly #isUpgrade: boolean;
  /** The client waits for a word before it sends its body. */
  #isAwaited: boolean;

  constructor(connection: Connection, http1: ServerConnection, head: Http1RequestHead, hasBody: boolean) {
    super(connection, head, head.fields, hasBody);
    this.httpVersion = head.minorVersion === 0 ? '1.0' : '1.1';
    this.#http1 = http1;
    this.#isKept = head.isKept && !head.isUpgrade;
    this.#isUpgrade = head.isUpgrade && head.method !== 'CONNECT';
    this.#isAwaited = hasBody && head.headers.expect !== undefined && head.minorVersion === 1;
  }

  protected override release(sizeBytes: number): void {
    if (!this.isClosed) this.#http1.release(sizeBytes);
  }

  protected override welcomeBody(): void {
    if (!this.#isAwaited || this.isAnswered || this.isClosed) return;
    this.#isAwaited = false;
    this.#http1.write(CONTINUE);
  }

  respond(status: number, headers: ResponseHeaders, body?: ResponseBody): void {
    if (this.isAnswered || this.isClosed) return;
    const sizeBytes = byteSizeOf(body);
    const isLast = !this.#isKept || this.#http1.isClosing || this.#mustEnd();
    const head = answerHead(status, headers, lengthOf(this.method, status, body, sizeBytes), this.#connectionLine(isLast));
    this.isAnswered = true;
    const isBodiless = sizeBytes === 0 || this.method === 'HEAD' || hasNoBody(status);
    if (isBodiless || head.length + sizeBytes <= JOINED_BYTES) {
      this.#http1.write(joined(head, isBodiless ? NOTHING : body!, isBodiless ? 0 : sizeBytes));
      return this.#http1.complete(isLast);
    }
    this.#http1.write(Buffer.from(head, 'latin1'));
    this.#http1.plan(sizeBytes);
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

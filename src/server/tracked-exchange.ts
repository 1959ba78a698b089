import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { ConnectionInfo, Exchange, ResponseHeaders, ResponseStream } from '../serving/exchange.ts';
import { byteSizeOf } from '../util/byte-size.ts';
import type { Requester } from '../net/unsent-answers.ts';

/** What an exchange is told of the request it carries. */
export interface AnswerContext extends Requester {
  /** Joined to the headers of whatever answer leaves; the answer's own win. */
  readonly responseHeaders: Record<string, string | string[]>;
  /** Streams of long-running requests are not counted: a watch writes too often for a wrapper. */
  readonly isLongRunning: boolean;
}

/**
 * The exchange as filters and endpoints see it. It remembers how the request was answered, adds the headers that filters want on every answer,
 * and lets only the first answer through: a handler that comes too late, after its deadline was answered for it, is ignored.
 */
export class TrackedExchange implements Exchange {
  /** 0 until an answer was begun. */
  status = 0;
  /** Bytes of body, before any transfer coding; of streams, those of requests that are not long-running. */
  sentBytes = 0;
  /** How long writing the body took, with the wait for a client that reads slowly; of the same answers as `sentBytes`. Of a whole one, until it leaves. */
  writeMs = 0;
  /** Of the request; undefined until it is read whole. */
  bodyBytes: number | undefined;
  stream: ResponseStream | undefined;
  /** Called once, when an answer is about to leave: all of it, which then waits for what is promised, or the beginning of a stream, which does not. */
  beforeAnswer: ((isWhole: boolean) => void | Promise<void>) | undefined;
  /** Called with a stream that was begun; what it gives takes the stream's place. */
  wrapStream: ((stream: ResponseStream) => ResponseStream) | undefined;
  /** Called with a body that is read whole, before whoever reads it; what it throws refuses the request. */
  onBody: ((bytes: Buffer) => void) | undefined;
  readonly #inner: Exchange;
  readonly #context: AnswerContext;

  constructor(inner: Exchange, context: AnswerContext) {
    this.#inner = inner;
    this.#context = context;
    inner.requester = context;
  }

  get method(): string {
    return this.#inner.method;
  }
  get target(): string {
    return this.#inner.target;
  }
  get headers(): IncomingHttpHeaders {
    return this.#inner.headers;
  }
  headerValues(name: string): string[] {
    return this.#inner.headerValues(name);
  }
  get httpVersion(): '1.0' | '1.1' | '2.0' {
    return this.#inner.httpVersion;
  }
  get remoteAddress(): string {
    return this.#inner.remoteAddress;
  }
  get connection(): ConnectionInfo {
    return this.#inner.connection;
  }
  get ownHeaders(): Readonly<Record<string, string | string[]>> {
    return this.#context.responseHeaders;
  }
  get isAnswered(): boolean {
    return this.status !== 0 || this.#inner.isAnswered;
  }
  get isClosed(): boolean {
    return this.#inner.isClosed;
  }

  readBody(limitBytes: number): Promise<Buffer> {
    const { onBody } = this;
    return this.#inner.readBody(limitBytes).then((bytes) => {
      this.bodyBytes = bytes.length;
      onBody?.(bytes);
      return bytes;
    });
  }

  openBody(): Readable | undefined {
    return this.#inner.openBody();
  }

  respond(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void {
    if (this.isAnswered) return;
    this.status = status;
    this.sentBytes = byteSizeOf(body);
    // A clock is not read for nobody.
    const startMs = this.beforeAnswer && performance.now();
    const all = this.#addToFilterHeaders(headers);
    if (startMs !== undefined) this.writeMs = performance.now() - startMs;
    const held = this.beforeAnswer?.(true);
    if (held === undefined) this.#inner.respond(status, all, body);
    else void held.then(() => this.#inner.respond(status, all, body));
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered) return DISCARDING_STREAM;
    this.status = status;
    void this.beforeAnswer?.(false);
    const stream = this.#inner.startStream(status, this.#addToFilterHeaders(headers));
    this.stream = this.wrapStream ? this.wrapStream(stream) : stream;
    return this.#context.isLongRunning ? this.stream : new CountedStream(this.stream, this);
  }

  /** The answer's headers added to the filters': the other way round would change an object that the answers of others share, or copy both. */
  #addToFilterHeaders(headers: ResponseHeaders): ResponseHeaders {
    const all: ResponseHeaders = this.#context.responseHeaders;
    for (const name in headers) all[name] = headers[name]!;
    return all;
  }

  upgrade(): { socket: Duplex; head: Buffer } | undefined {
    if (this.isAnswered) return undefined;
    const taken = this.#inner.upgrade();
    if (taken === undefined) return undefined;
    this.status = 101;
    void this.beforeAnswer?.(false);
    return taken;
  }

  onClose(listener: () => void): void {
    this.#inner.onClose(listener);
  }
}

class CountedStream implements ResponseStream {
  readonly #inner: ResponseStream;
  readonly #exchange: TrackedExchange;
  constructor(inner: ResponseStream, exchange: TrackedExchange) {
    this.#inner = inner;
    this.#exchange = exchange;
  }
  get bufferedBytes(): number {
    return this.#inner.bufferedBytes;
  }
  write(chunk: Buffer): boolean {
    const startMs = performance.now();
    const isTaken = this.#inner.write(chunk);
    this.#exchange.sentBytes += chunk.length;
    this.#exchange.writeMs += performance.now() - startMs;
    return isTaken;
  }
  onDrain(listener: () => void): void {
    const startMs = performance.now();
    this.#inner.onDrain(() => {
      this.#exchange.writeMs += performance.now() - startMs;
      listener();
    });
  }
  end(trailers?: ResponseHeaders): void {
    this.#inner.end(trailers);
  }
  destroy(): void {
    this.#inner.destroy();
  }
}

/** Where a late answer goes. */
const DISCARDING_STREAM: ResponseStream = {
  bufferedBytes: 0,
  write: () => true,
  onDrain: (listener) => listener(),
  end: () => {},
  destroy: () => {},
};

import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { requestEntityTooLarge } from '../api/errors.ts';
import { type ConnectionInfo, type Exchange, type ResponseHeaders, type ResponseStream, closedStream, withoutConnection } from './exchange.ts';

export interface CapturedRequest {
  method: string;
  target: string;
  headers: Readonly<Record<string, string | string[]>>;
  body: Buffer;
  remoteAddress: string;
}

/** A request of our own making, whose answer is kept, up to a size. */
export class CapturedExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: Exchange['httpVersion'] = '1.1';
  readonly remoteAddress: string;
  readonly connection: ConnectionInfo = withoutConnection([]);
  readonly #lines: CapturedRequest['headers'];
  readonly #body: Buffer;
  readonly #limitBytes: number;
  readonly #parts: Buffer[] = [];
  readonly #closeListeners: (() => void)[] = [];
  #keptBytes = 0;
  #sentBytes = 0;
  /** 0 until it is answered. */
  status = 0;
  responseHeaders: ResponseHeaders = {};
  isClosed = false;

  constructor({ method, target, headers, body, remoteAddress }: CapturedRequest, limitBytes: number) {
    this.method = method;
    this.target = target;
    this.#lines = headers;
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : value.join(', ')]));
    this.#body = body;
    this.remoteAddress = remoteAddress;
    this.#limitBytes = limitBytes;
  }

  get isAnswered(): boolean {
    return this.status !== 0;
  }

  /** As much of it as is kept. */
  get answer(): { bytes: Buffer; isWhole: boolean } {
    return { bytes: Buffer.concat(this.#parts), isWhole: this.#keptBytes === this.#sentBytes };
  }

  headerValues(name: string): string[] {
    return Object.hasOwn(this.#lines, name) ? [this.#lines[name]!].flat() : [];
  }

  async readBody(limitBytes: number): Promise<Buffer> {
    if (this.#body.length > limitBytes) throw requestEntityTooLarge(`limit is ${limitBytes}`);
    return this.#body;
  }

  openBody(): Readable | undefined {
    return undefined;
  }

  respond(status: number, headers: ResponseHeaders, body: Buffer | string | readonly Buffer[] = ''): void {
    if (this.isAnswered || this.isClosed) return;
    this.#begin(status, headers);
    for (const part of typeof body === 'string' ? [Buffer.from(body)] : [body].flat()) this.#keep(part as Buffer);
    this.close();
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered || this.isClosed) return closedStream;
    this.#begin(status, headers);
    return {
      bufferedBytes: 0,
      write: (chunk) => {
        this.#keep(chunk);
        return true;
      },
      onDrain: (listener) => listener(),
      end: () => this.close(),
      destroy: () => this.close(),
    };
  }

  upgrade(): { socket: Duplex; head: Buffer } | undefined {
    return undefined;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners.push(listener);
  }

  /** It is answered, or whoever wanted it has gone. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  #begin(status: number, headers: ResponseHeaders): void {
    this.status = status;
    this.responseHeaders = headers;
  }

  /** Chunks are others' memory, and may change. */
  #keep(chunk: Buffer): void {
    const kept = Buffer.from(chunk.subarray(0, Math.max(0, this.#limitBytes - this.#keptBytes)));
    this.#sentBytes += chunk.length;
    this.#keptBytes += kept.length;
    if (kept.length > 0) this.#parts.push(kept);
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange, ResponseHeaders, ResponseStream } from '../../serving/exchange.ts';

/** For tests: an exchange without a socket, that remembers its answer. */
export class FakeExchange implements Exchange {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersion: '1.1' | '2.0';
  readonly remoteAddress = '127.0.0.1';
  closeRequests = 0;
  readonly connection = {
    peerCertificates: [],
    requestClose: (): void => void this.closeRequests++,
    destroy() {},
    holdBack: () => true,
    readOn(): void {},
  };
  isAnswered = false;
  isClosed = false;
  isDestroyed = false;
  status = 0;
  responseHeaders: ResponseHeaders = {};
  body = '';
  readonly #closeListeners: (() => void)[] = [];

  constructor(target: string, { method = 'GET', headers = {}, httpVersion = '1.1' as '1.1' | '2.0' } = {}) {
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.httpVersion = httpVersion;
  }

  get json(): unknown {
    return JSON.parse(this.body);
  }

  headerValues(name: string): string[] {
    const value = this.headers[name];
    return value === undefined ? [] : [value].flat();
  }

  async readBody(): Promise<Buffer> {
    return Buffer.alloc(0);
  }

  openBody(): undefined {
    return undefined;
  }

  respond(status: number, headers: ResponseHeaders, body: Buffer | string | readonly Buffer[] = ''): void {
    if (this.isAnswered) throw new Error('answered twice');
    this.#begin(status, headers);
    this.body = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString() : Buffer.concat(body as Buffer[]).toString();
    this.close();
  }

  startStream(status: number, headers: ResponseHeaders): ResponseStream {
    if (this.isAnswered) throw new Error('answered twice');
    this.#begin(status, headers);
    return {
      bufferedBytes: 0,
      write: (chunk) => {
        this.body += chunk.toString();
        return true;
      },
      onDrain: () => {},
      end: () => this.close(),
      destroy: () => {
        this.isDestroyed = true;
        this.close();
      },
    };
  }

  upgrade(): undefined {
    return undefined;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners.push(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of this.#closeListeners) listener();
  }

  #begin(status: number, headers: ResponseHeaders): void {
    this.isAnswered = true;
    this.status = status;
    this.responseHeaders = headers;
  }
}

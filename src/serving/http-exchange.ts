import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { withListener } from '../util/listeners.ts';
import type { Requester } from '../net/unsent-answers.ts';
import { tooLarge } from './body.ts';
import type { Connection } from './connection.ts';
import { linesOf } from './headers.ts';
import { IncomingBody } from './incoming-body.ts';

const NOTHING = Buffer.alloc(0);

/** A request and its body as an Exchange has them, whichever version of HTTP they came by. How it is answered is the version's own. */
export abstract class HttpExchange {
  readonly connection: Connection;
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  isAnswered = false;
  requester: Requester | undefined = undefined;
  isClosed = false;
  readonly #fields: readonly string[];
  readonly #body: IncomingBody | undefined;
  #closeListeners: readonly (() => void)[] | undefined;

  /** `fields`: every header line, `name, value, name, value, …`. */
  constructor(
    connection: Connection,
    { method, target, headers }: { method: string; target: string; headers: IncomingHttpHeaders },
    fields: readonly string[],
    hasBody: boolean,
  ) {
    this.connection = connection;
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.#fields = fields;
    this.#body = hasBody ? new IncomingBody((sizeBytes) => this.release(sizeBytes)) : undefined;
  }

  /** So much of the body was taken in. */
  protected abstract release(sizeBytes: number): void;
  /** The body is wanted: a client that waits to be asked for it is asked. */
  protected abstract welcomeBody(): void;

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  headerValues(name: string): string[] {
    return linesOf(this.#fields, name);
  }

  readBody(limitBytes: number): Promise<Buffer> {
    if (!this.#body) return Promise.resolve(NOTHING);
    if (Number(this.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge(limitBytes));
    this.welcomeBody();
    return this.#body.read(limitBytes);
  }

  openBody(): Readable | undefined {
    if (!this.#body) return undefined;
    this.welcomeBody();
    return this.#body.open();
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#closeListeners = withListener(this.#closeListeners, listener);
  }

  /* What its connection tells it. */

  onData(piece: Buffer): void {
    this.#body!.push(piece);
  }

  onBodyEnd(): void {
    this.#body!.end();
  }

  /** The answer has left, or the client has gone. */
  onOver(): void {
    this.isClosed = true;
    this.#body?.breakOff();
    for (const listener of this.#closeListeners ?? []) listener();
  }
}

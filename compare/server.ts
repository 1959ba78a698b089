import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { User } from './step.ts';

export interface RawRequest {
  method: string;
  path: string;
  user: User;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A stream of which the beginning has come. */
export interface RawStream {
  status: number;
  headers: IncomingHttpHeaders;
  chunks: Buffer[];
  /** When the last chunk came (performance.now()), and whether there will be no more. */
  lastMs: number;
  isOver: boolean;
  stop(): void;
}

const ANSWER_LIMIT_MS = 20_000;

/** One of the two servers, spoken to over HTTP/1.1 with the tokens of the token file. Its certificate is not verified: both are the caller's own. */
export class Server {
  readonly name: string;
  readonly #url: URL;
  readonly #tokens: ReadonlyMap<string, string>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });

  constructor(name: string, url: string, tokens: ReadonlyMap<string, string>) {
    this.name = name;
    this.#url = new URL(url);
    this.#tokens = tokens;
  }

  /** With the port. */
  get host(): string {
    return this.#url.host;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The whole answer. A request that has none is an answer of status 0 with the reason, so that it can be compared like any other. */
  async send(raw: RawRequest): Promise<RawAnswer> {
    try {
      const stream = await this.open(raw);
      const timer = setTimeout(() => stream.stop(), ANSWER_LIMIT_MS);
      while (!stream.isOver) await stream.next();
      clearTimeout(timer);
      return { status: stream.status, headers: stream.headers, body: Buffer.concat(stream.chunks) };
    } catch (error) {
      return { status: 0, headers: {}, body: Buffer.from(`no answer: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`) };
    }
  }

  /** Resolves with the head of the answer. */
  open({ method, path, user, headers, body }: RawRequest): Promise<RawStream & { next(): Promise<void> }> {
    const token = this.#tokens.get(user);
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        agent: this.#agent,
        host: this.#url.hostname,
        port: this.#url.port,
        method,
        path,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }), ...(body !== undefined && { 'content-length': body.length }) },
      });
      request.setTimeout(ANSWER_LIMIT_MS, () => request.destroy(new Error('timeout')));
      request.on('error', reject);
      request.on('response', (response) => {
        let wake = (): void => {};
        const stream = {
          status: response.statusCode!,
          headers: response.headers,
          chunks: [] as Buffer[],
          lastMs: performance.now(),
          isOver: false,
          stop: () => void response.destroy(),
          next: () => (stream.isOver ? Promise.resolve() : new Promise<void>((woken) => (wake = woken))),
        };
        response.on('data', (chunk: Buffer) => {
          stream.chunks.push(chunk);
          stream.lastMs = performance.now();
          wake();
        });
        response.on('error', () => {});
        response.on('close', () => {
          stream.isOver = true;
          wake();
        });
        resolve(stream);
      });
      request.end(body);
    });
  }
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';

export interface ApiClientOptions {
  port: number;
  ca: string;
  token?: string;
  /** A client certificate, with its key. */
  cert?: string;
  key?: string;
}

export interface ApiRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON, bytes and text as they are. */
  body?: object | Buffer | string;
}

/** What tests read of any object. */
export interface TestObject {
  kind?: string;
  apiVersion?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    generation?: number;
  };
  data?: Record<string, string>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface TestList {
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: TestObject[];
}

export interface TestEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: TestObject & { code?: number; reason?: string };
}

export class Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  constructor(status: number, headers: IncomingHttpHeaders, body: Buffer) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
  get text(): string {
    return this.body.toString('utf8');
  }
  json<T = TestObject>(): T {
    return JSON.parse(this.text) as T;
  }
}

/** Requests over HTTP/1.1 with one user's token, on connections that are kept. */
export class ApiClient {
  readonly agent: Agent;
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    const { ca, cert, key } = options;
    this.#options = options;
    this.agent = new Agent({ keepAlive: true, maxSockets: 256, ca, ...(cert !== undefined && { cert, key }) });
  }

  close(): void {
    this.agent.destroy();
  }

  async send(request: ApiRequest): Promise<Answer> {
    const response = await this.open(request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return new Answer(response.statusCode!, response.headers, Buffer.concat(chunks));
  }

  /** Resolves with the head of the answer. */
  open({ method = 'GET', path, headers = {}, body }: ApiRequest): Promise<IncomingMessage> {
    const { port, token } = this.#options;
    const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const payload = isRaw ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpsRequest(
        {
          agent: this.agent,
          host: '127.0.0.1',
          port,
          method,
          path,
          headers: {
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
            ...headers,
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.end(payload);
    });
  }

  async get<T = TestObject>(path: string): Promise<T> {
    return (await this.expect(200, { path })).json<T>();
  }

  async create(path: string, body: object): Promise<TestObject> {
    return (await this.expect(201, { method: 'POST', path, body })).json();
  }

  async update(path: string, body: object): Promise<TestObject> {
    return (await this.expect(200, { method: 'PUT', path, body })).json();
  }

  async delete(path: string): Promise<void> {
    await this.expect(200, { method: 'DELETE', path });
  }

  async expect(status: number, request: ApiRequest): Promise<Answer> {
    const answer = await this.send(request);
    if (answer.status !== status) throw new Error(`${request.method ?? 'GET'} ${request.path}: ${answer.status} instead of ${status}: ${answer.text}`);
    return answer;
  }

  async watch(path: string): Promise<WatchReader> {
    const response = await this.open({ path });
    if (response.statusCode !== 200) throw new Error(`WATCH ${path}: ${response.statusCode}`);
    return new WatchReader(response);
  }
}

/** The events of one watch, as they come. */
export class WatchReader {
  readonly response: IncomingMessage;
  /** Resolves when the answer ends; `false` when it was cut off. */
  readonly ended: Promise<boolean>;
  readonly #events: TestEvent[] = [];
  readonly #waiting: ((event: TestEvent | undefined) => void)[] = [];
  #rest = '';
  #isOver = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    response.on('error', () => {});
    this.ended = new Promise((resolve) => {
      response.once('close', () => {
        this.#isOver = true;
        for (const waiting of this.#waiting.splice(0)) waiting(undefined);
        resolve(response.complete);
      });
    });
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const event = JSON.parse(line) as TestEvent;
      const waiting = this.#waiting.shift();
      if (waiting) waiting(event);
      else this.#events.push(event);
    }
  }

  /** The next event, or undefined when the watch is over. */
  next(): Promise<TestEvent | undefined> {
    if (this.#events.length > 0 || this.#isOver) return Promise.resolve(this.#events.shift());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async take(count: number): Promise<TestEvent[]> {
    const events: TestEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
      events.push(event);
    }
    return events;
  }

  stop(): void {
    this.response.destroy();
  }
}

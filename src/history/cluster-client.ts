import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { endpointAgent } from '../client/endpoint-agent.ts';
import type { RemoteEndpoint } from '../client/kubeconfig.ts';
import { isJsonObject, parseJson, stringifyUnescaped } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { goNetworkError } from '../net/network-error.ts';
import { delay } from '../util/delay.ts';

/** Of one page of a list, or one event: a server sends no more of one object than its store takes. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
/** Less is not worth a timer. */
const BURST_MS = 100;
/** A watch for each resource, and custom resources may be many. */
const MAX_CONNECTIONS = 5_000;

/** An answer that is no success. */
export class ClusterError extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface WatchEvent {
  type: string;
  object: JsonObject;
}

interface Message {
  method: string;
  body?: string;
  contentType?: string;
}

/** Requests to any Kubernetes API server, over connections that are kept. */
export class ClusterClient {
  readonly #endpoint: RemoteEndpoint;
  readonly #agent: Agent;
  readonly #userAgent: string;
  readonly #closed = new AbortController();
  readonly #maxBytesPerSecond: number;
  /** When all that was received may have come, at that rate. */
  #paidUntilMs = 0;
  /** All that was received, of every answer. */
  receivedBytes = 0;

  /** What comes faster than `maxBytesPerSecond` is left in the sockets, so that the server waits. */
  constructor(endpoint: RemoteEndpoint, userAgent: string, maxBytesPerSecond = Infinity) {
    this.#endpoint = endpoint;
    this.#maxBytesPerSecond = maxBytesPerSecond;
    this.#userAgent = userAgent;
    this.#agent = endpointAgent(endpoint, this.#closed.signal, { maxConnections: MAX_CONNECTIONS });
  }

  get url(): string {
    return this.#endpoint.url.origin + this.#endpoint.url.pathname.replace(/\/$/, '');
  }

  /** The answer, an object of JSON. Throws ClusterError where it is no success. */
  get(path: string, signal: AbortSignal = this.#closed.signal): Promise<JsonObject> {
    return this.#exchange(path, signal, { method: 'GET' });
  }

  /** The same for a write. */
  send(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body: Json, contentType = 'application/json'): Promise<JsonObject> {
    return this.#exchange(path, this.#closed.signal, { method, body: stringifyUnescaped(body), contentType });
  }

  async #exchange(path: string, signal: AbortSignal, message: Message): Promise<JsonObject> {
    const response = await this.#send(path, signal, message);
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      await this.#receive(part.length);
      if ((sizeBytes += part.length) > MAX_ANSWER_BYTES) throw new Error(`${path}: the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      parts.push(part);
    }
    return answerOf(path, response.statusCode ?? 0, Buffer.concat(parts));
  }

  /** The events of a watch until the server ends it. */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const response = await this.#send(path, signal, { method: 'GET' });
    if (response.statusCode !== 200) {
      response.resume();
      throw new ClusterError(`${path}: the server answered ${response.statusCode}`, response.statusCode ?? 0);
    }
    for await (const line of this.#lines(response)) {
      const event = parseJson(line);
      if (isJsonObject(event) && typeof event['type'] === 'string' && isJsonObject(event['object'])) yield { type: event['type'], object: event['object'] };
    }
  }

  close(): void {
    this.#closed.abort();
    this.#agent.destroy();
  }

  async #receive(sizeBytes: number): Promise<void> {
    this.receivedBytes += sizeBytes;
    const nowMs = performance.now();
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + (sizeBytes / this.#maxBytesPerSecond) * 1_000;
    if (this.#paidUntilMs - nowMs > BURST_MS) await delay(this.#paidUntilMs - nowMs - BURST_MS, this.#closed.signal);
  }

  async *#lines(response: IncomingMessage): AsyncGenerator<Buffer> {
    let parts: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      await this.#receive(chunk.length);
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        const line = Buffer.concat([...parts, chunk.subarray(start, end)]);
        parts = [];
        sizeBytes = 0;
        start = end + 1;
        if (line.length > 0) yield line;
      }
      if ((sizeBytes += chunk.length - start) > MAX_ANSWER_BYTES) throw new Error(`an event is longer than ${MAX_ANSWER_BYTES} bytes`);
      if (start < chunk.length) parts.push(chunk.subarray(start));
    }
  }

  async #send(path: string, signal: AbortSignal, { method, body, contentType }: Message): Promise<IncomingMessage> {
    const authorization = await this.#endpoint.authorization?.();
    const headers = {
      accept: 'application/json',
      'user-agent': this.#userAgent,
      ...(authorization !== undefined && { authorization }),
      ...(contentType !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(body ?? '') }),
    };
    const send = this.#endpoint.url.protocol === 'http:' ? httpRequest : httpsRequest;
    return new Promise((resolve, reject) => {
      const request = send(this.url + path, { method, headers, agent: this.#agent, signal }, resolve);
      request.once('error', (error) => reject(new Error(`${this.url}: ${goNetworkError(error)}`, { cause: error })));
      request.end(body);
    });
  }
}

function answerOf(path: string, status: number, body: Buffer): JsonObject {
  if (status < 200 || status > 299) throw new ClusterError(`${path}: ${messageOf(body) ?? `the server answered ${status}`}`, status);
  const answer = parseJson(body);
  if (!isJsonObject(answer)) throw new Error(`${path}: the answer is no object`);
  return answer;
}

function messageOf(body: Buffer): string | undefined {
  try {
    const status = parseJson(body);
    return isJsonObject(status) && typeof status['message'] === 'string' ? status['message'] : undefined;
  } catch {
    return undefined;
  }
}

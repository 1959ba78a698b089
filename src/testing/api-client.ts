import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { EXEMPT_AGENT } from '../faults/filter.ts';
import { ApiError } from './api-error.ts';
import type { KubernetesObject } from './objects.ts';

export interface ClientCredentials {
  url: string;
  caCertificate: string;
  certPem: string;
  keyPem: string;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubernetesObject;
}

interface RequestOptions {
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

/** Requests to the server by HTTPS, as any client sends them, with the administrator's certificate. */
export class ApiClient {
  readonly #url: string;
  readonly #agent: Agent;

  constructor({ url, caCertificate, certPem, keyPem }: ClientCredentials) {
    this.#url = url;
    this.#agent = new Agent({ ca: caCertificate, cert: certPem, key: keyPem, keepAlive: true });
  }

  /** The answer's body, parsed. Throws ApiError for a status that is no success. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.#send(method, path, options);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString('utf8');
    if (response.statusCode! >= 300) throw new ApiError(`${method} ${path}`, response.statusCode!, text);
    return JSON.parse(text) as T;
  }

  /** The events of a watch until it ends or `signal` is aborted. */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const response = await this.#send('GET', path, { signal });
    response.setEncoding('utf8');
    if (response.statusCode !== 200) return void response.resume();
    let rest = '';
    for await (const part of response) {
      const lines = (rest + (part as string)).split('\n');
      rest = lines.pop()!;
      for (const line of lines) yield JSON.parse(line) as WatchEvent;
    }
  }

  #send(method: string, path: string, { body, contentType = 'application/json', signal }: RequestOptions): Promise<IncomingMessage> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = { accept: 'application/json', 'user-agent': EXEMPT_AGENT, ...(bytes && { 'content-type': contentType, 'content-length': bytes.length }) };
    return new Promise((resolve, reject) => {
      const request = httpsRequest(this.#url + path, { method, headers, agent: this.#agent, ...(signal && { signal }) }, resolve);
      request.once('error', reject);
      request.end(bytes);
    });
  }

  /** Ends what is under way, and closes its connections. */
  close(): void {
    this.#agent.destroy();
  }
}

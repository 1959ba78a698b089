import { type Agent, type IncomingHttpHeaders, type RequestOptions, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { WeakCertificateListener } from '../serving/weak-certificates.ts';
import { BytePieces } from '../util/byte-pieces.ts';
import { delay } from '../util/delay.ts';
import type { Dial } from '../net/dial.ts';
import { formatDuration } from '../util/duration.ts';
import { quote } from '../util/go-quote.ts';
import { isJsonObject, parseJson } from '../encoding/json.ts';
import { linkSignals } from '../util/linked-signal.ts';
import { goNetworkError } from '../net/network-error.ts';
import { endpointAgent } from './endpoint-agent.ts';
import type { RemoteEndpoint } from './kubeconfig.ts';

/** A call that got no answer, or one that is no success. Never holds what was sent. */
export class WebhookError extends Error {
  /** The answer's; undefined where there was none. */
  readonly status: number | undefined;
  /** Whether another try may fare better (apiserver/pkg/util/webhook, DefaultShouldRetry). */
  readonly isTransient: boolean;
  /** The caller's time was up, or the other server's was. */
  readonly isTimeout: boolean;

  constructor(message: string, { status, isTransient = false, isTimeout = false }: { status?: number; isTransient?: boolean; isTimeout?: boolean } = {}) {
    super(message);
    this.status = status;
    this.isTransient = isTransient;
    this.isTimeout = isTimeout;
  }
}

export interface RemoteAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface WebhookClientOptions {
  /** For the whole of a call: connecting, sending, and reading the answer to its end. */
  timeoutMs?: number;
  /** An answer longer than this is an error. */
  maxAnswerBytes?: number;
  /** The way to the server; absent: directly. */
  dial?: Dial | undefined;
  onWeakCertificate?: WeakCertificateListener | undefined;
}

/** Calls one server over connections that are kept. Redirects are never followed (CVE-2020-8561): they are errors. */
export class WebhookClient {
  readonly #endpoint: RemoteEndpoint;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #agent: Agent;
  readonly #closed = new AbortController();

  constructor(endpoint: RemoteEndpoint, { timeoutMs = 30_000, maxAnswerBytes = 3 * 1024 * 1024, dial, onWeakCertificate }: WebhookClientOptions = {}) {
    this.#endpoint = endpoint;
    this.#timeoutMs = timeoutMs;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#agent = endpointAgent(endpoint, this.#closed.signal, { dial, onWeakCertificate });
  }

  /** Posts JSON to the endpoint's own path, as upstream's webhooks do. The answer is a 2xx; all else throws WebhookError. */
  async post(body: RequestBody, signal?: AbortSignal, traceparent?: string): Promise<Buffer> {
    const url = new URL(this.#endpoint.url);
    url.searchParams.set('timeout', formatDuration(this.#timeoutMs));
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'content-length': isInPieces(body) ? body.reduce((bytes, piece) => bytes + piece.length, 0) : Buffer.byteLength(body),
      ...(traceparent !== undefined && { traceparent }),
    };
    const answer = await this.#callWithRetries('POST', url, headers, body, signal);
    if (answer.status < 200 || answer.status > 299) throw refusal(answer);
    return answer.body;
  }

  get(url: URL, signal?: AbortSignal, headers: Record<string, string> = { accept: 'application/json' }): Promise<RemoteAnswer> {
    return this.#call('GET', url, headers, undefined, signal);
  }

  /** Calls under way fail. */
  close(): void {
    this.#closed.abort(new Error('the connection was closed'));
    this.#agent.destroy();
  }

  /** Calls again where a server that has no time for us says when to, all within the time of one call (client-go/rest/with_retry.go). */
  async #callWithRetries(...[method, url, headers, body, signal]: CallArguments): Promise<RemoteAnswer> {
    const endsMs = performance.now() + this.#timeoutMs;
    for (let retries = 0; ; retries++) {
      const answer = await this.#call(method, url, headers, body, signal, Math.ceil(Math.max(0, endsMs - performance.now())));
      const delayMs = askedDelayMs(answer);
      if (delayMs === undefined || retries === MAX_ASKED_RETRIES) return answer;
      const leftMs = endsMs - performance.now();
      if (delayMs >= leftMs) {
        await delay(leftMs, signal ?? this.#closed.signal);
        throw networkError(method, url, new Error('context deadline exceeded'), true);
      }
      // Who has given up meanwhile is told so by the next call.
      await delay(delayMs, signal ?? this.#closed.signal);
    }
  }

  async #call(...[method, url, headers, body, signal, timeoutMs = this.#timeoutMs]: [...CallArguments, timeoutMs?: number]): Promise<RemoteAnswer> {
    const authorization = await this.#endpoint.authorization?.();
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs).unref();
    const { signal: either, release } = linkSignals(timeout.signal, ...(signal ? [signal] : []));
    const options: RequestOptions = {
      method,
      headers: { 'user-agent': 'kube-apiserver (binnacle)', ...headers, ...(authorization !== undefined && { authorization }) },
      agent: this.#agent,
      signal: either,
    };
    try {
      return await exchange(url, options, body, this.#maxAnswerBytes);
    } catch (error) {
      throw networkError(method, url, error as NodeJS.ErrnoException, timeout.signal.aborted && signal?.aborted !== true);
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}

/** In pieces, which are sent at the other server's pace, where it may be long. */
type RequestBody = string | Buffer | readonly Buffer[];

const isInPieces = (body: RequestBody | undefined): body is readonly Buffer[] => Array.isArray(body);

type CallArguments = [method: string, url: URL, headers: Record<string, string | number>, body: RequestBody | undefined, signal: AbortSignal | undefined];

const MAX_ASKED_RETRIES = 10;

/** How long a server that is too busy, or broken, wants us to wait; undefined where it does not want us again. Dates are not read, as Go does not. */
function askedDelayMs({ status, headers }: RemoteAnswer): number | undefined {
  const seconds = headers['retry-after'];
  if ((status !== 429 && status < 500) || seconds === undefined || !/^[+-]?\d{1,9}$/.test(seconds)) return undefined;
  return Math.max(0, Number(seconds)) * 1000;
}

function exchange(url: URL, options: RequestOptions, body: RequestBody | undefined, maxAnswerBytes: number): Promise<RemoteAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const request = (url.protocol === 'http:' ? httpRequest : httpsRequest)(url, options, (response) => {
      isAnswered = true;
      const pieces = new BytePieces();
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxAnswerBytes) return pieces.add(chunk);
        reject(new Error(`the answer is longer than ${maxAnswerBytes} bytes`));
        response.destroy();
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: pieces.take() }));
      response.on('error', reject);
      response.on('aborted', () => reject(Object.assign(new Error('unexpected EOF'), { code: 'ECONNRESET' })));
    });
    request.on('error', reject);
    // Node closes the connection of a server that answers 101, and says nothing more of it.
    request.on('close', () => isAnswered || reject(new Error('unexpected EOF')));
    if (isInPieces(body)) Readable.from(body).pipe(request);
    else request.end(body);
  });
}

/** The words are those of Go's http.Client; `isTimeout` where our own limit ended the call. */
function networkError(method: string, url: URL, error: NodeJS.ErrnoException, isTimeout: boolean): WebhookError {
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  const reason = isTimeout ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)' : goNetworkError(error);
  return new WebhookError(`${verb} ${quote(String(url))}: ${reason}`, { isTransient: error.code === 'ECONNRESET', isTimeout });
}

const MAX_SHOWN_CHARACTERS = 2048;
const TRANSIENT = new Set([429, 500, 504]);

/** What client-go makes of an answer that is no success (apimachinery/pkg/api/errors, NewGenericServerResponse). */
function refusal({ status, headers, body }: RemoteAnswer): WebhookError {
  const isTransient = TRANSIENT.has(status) || headers['retry-after'] !== undefined;
  const location = headers.location;
  const message =
    status >= 300 && status < 400 && location !== undefined
      ? `the server answered ${status}, a redirect to ${quote(location.slice(0, MAX_SHOWN_CHARACTERS))}: redirects are not followed`
      : (statusMessage(body) ?? refusalMessage(status, isText(headers['content-type']) ? body.toString('utf8', 0, MAX_SHOWN_CHARACTERS).trim() : 'unknown'));
  return new WebhookError(message, { status, isTransient, isTimeout: status === 504 });
}

/** Only text is shown; what says nothing of itself is taken for text (client-go/rest: isTextResponse). */
const isText = (contentType: string | undefined): boolean => !contentType || contentType.startsWith('text/');

/** What the answer says itself, where it is a Status. */
function statusMessage(body: Buffer): string | undefined {
  if (body[0] !== 0x7b || body.length > MAX_STATUS_BYTES) return undefined;
  try {
    const value = parseJson(body);
    const isStatus = isJsonObject(value) && value.kind === 'Status' && value.status === 'Failure';
    return isStatus && typeof value.message === 'string' ? value.message.slice(0, MAX_SHOWN_CHARACTERS) : undefined;
  } catch {
    return undefined;
  }
}

const MAX_STATUS_BYTES = 64 * 1024;

const REFUSALS: Record<number, string> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  422: 'the server rejected our request due to an error in our request',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  429: 'the server has received too many requests and has asked us to try again later',
};

function refusalMessage(status: number, text: string): string {
  if (status === 403 && text !== '') return text;
  const known = REFUSALS[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${quote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

export interface RetryOptions {
  /** Before the second try; each further wait is 1.5 times the last, with a fifth at random. */
  initialDelayMs: number;
  tries: number;
  sleep(delayMs: number): Promise<void>;
}

/** Upstream's for authentication and authorization (DefaultAuthWebhookRetryBackoff). */
export const DEFAULT_RETRY: RetryOptions = {
  initialDelayMs: 500,
  tries: 5,
  sleep: (delayMs) => new Promise((resolve) => void setTimeout(resolve, delayMs)),
};

/** Calls again while the error is one that may pass; throws the last one. */
export async function withRetries<T>({ initialDelayMs, tries, sleep }: RetryOptions, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1, delayMs = initialDelayMs; ; attempt++, delayMs *= 1.5) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= tries || !(error instanceof WebhookError) || !error.isTransient) throw error;
    }
    await sleep(delayMs * (1 + Math.random() * 0.2));
  }
}

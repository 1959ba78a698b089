import { ApiError, statusOf } from './status.ts';

export interface ApiRequest {
  method?: string;
  query?: Record<string, string | undefined>;
  accept?: string;
  /** An object is sent as JSON, text as it is. */
  body?: object | string;
  contentType?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Answers are asked for anew, unless their address has a hash. */
  cache?: RequestCache;
}

const JSON_TYPE = 'application/json';

/** Requests in the name of the session: the browser sends the cookie, and the header proves that it is this page that asks. */
export class Client {
  #csrfToken = '';
  readonly #onSessionLost: () => void;

  constructor(onSessionLost: () => void) {
    this.#onSessionLost = onSessionLost;
  }

  useSession(csrfToken: string): void {
    this.#csrfToken = csrfToken;
  }

  /** The answer, whatever its code. */
  send(
    path: string,
    { method = 'GET', query = {}, accept = JSON_TYPE, body, contentType = JSON_TYPE, headers = {}, signal, cache = 'no-cache' }: ApiRequest = {},
  ): Promise<Response> {
    return fetch(withQuery(path, query), {
      method,
      credentials: 'same-origin',
      cache,
      headers: {
        Accept: accept,
        'X-Binnacle-CSRF': this.#csrfToken,
        ...(body !== undefined && { 'Content-Type': contentType }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }

  /** The answer; one that says that it was not done is thrown. */
  async request(path: string, request: ApiRequest = {}): Promise<Response> {
    const response = await this.send(path, request);
    if (response.ok) return response;
    if (response.status === 401) this.#onSessionLost();
    throw new ApiError(response.status, statusOf(response.status, await response.text()), request.method ?? 'GET', path);
  }

  async json<T>(path: string, request: ApiRequest = {}): Promise<T> {
    return (await (await this.request(path, request)).json()) as T;
  }

  /** Settles when the stream has ended. */
  async lines(path: string, request: ApiRequest, onDocuments: (documents: unknown[]) => void): Promise<void> {
    const { body } = await this.request(path, request);
    if (body !== null) await readJsonLines(body, onDocuments);
  }
}

export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const present = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  return present.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(present).toString()}`;
}

/**
 * Reads a stream of JSON documents, one a line, and hands over those that came together: a watch that is behind is then worked off in few steps.
 * The last line counts without its line break too.
 */
export async function readJsonLines(body: ReadableStream<Uint8Array>, onDocuments: (documents: unknown[]) => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + (value === undefined ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n');
    rest = done ? '' : lines.pop()!;
    const documents = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
    if (documents.length > 0) onDocuments(documents);
    if (done) return;
  }
}

import type { RequestObserver } from '../server/filters/request-observer.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { ownCopy } from '../util/own-copy.ts';
import { MAX_NAME_CHARACTERS, cutText } from './cut-text.ts';
import type { RequestStream } from './request-stream.ts';

/** Clients that are told apart; of more, the one that was silent the longest is forgotten. */
const MAX_CLIENTS = 500;
const MAX_PATH_CHARACTERS = 512;

export interface ClientActivity {
  user: string;
  userAgent: string;
  requests: number;
  /** Answers of 400 and more, and none at all. */
  errors: number;
  lastSeenMs: number;
}

/** Takes down requests while somebody is signed in: a line each for those who look on, and how many each client makes. */
export class RequestRecorder {
  readonly #stream: RequestStream;
  readonly #clients = new Map<string, ClientActivity>();
  readonly #isOn: () => boolean;
  readonly #byCode = new Map<number, number>();
  #wasOn = false;

  constructor(stream: RequestStream, isOn: () => boolean) {
    this.#stream = stream;
    this.#isOn = isOn;
  }

  readonly observe: RequestObserver = (request) => {
    if (!this.#isOn()) return this.#wasOn ? this.#forget() : undefined;
    this.#wasOn = true;
    if (isOwn(request.info.path)) return undefined;
    const time = new Date().toISOString();
    return {
      streams: (running) => this.#stream.add(lineOf(running, time, true)),
      ended: (finished) => {
        this.#stream.add(lineOf(finished, time, false));
        this.#count(finished);
      },
    };
  };

  clients(): readonly ClientActivity[] {
    return [...this.#clients.values()];
  }

  /** How many requests ended with each status since somebody signed in; 0 for those that got no answer. */
  byCode(): ReadonlyMap<number, number> {
    return this.#byCode;
  }

  #count({ user, userAgent, exchange }: IncomingRequest): void {
    const name = cut(user.name);
    const agent = cut(userAgent);
    const key = `${name}\n${agent}`;
    const client = this.#clients.get(key) ?? { user: ownCopy(name), userAgent: ownCopy(agent), requests: 0, errors: 0, lastSeenMs: 0 };
    this.#byCode.set(exchange.status, (this.#byCode.get(exchange.status) ?? 0) + 1);
    client.requests++;
    if (exchange.status >= 400 || exchange.status === 0) client.errors++;
    client.lastSeenMs = Date.now();
    this.#clients.delete(key);
    this.#clients.set(key, client);
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
  }

  #forget(): undefined {
    this.#wasOn = false;
    this.#clients.clear();
    this.#byCode.clear();
    this.#stream.clear();
  }
}

/** The page's own polling would be most of what it shows. */
const isOwn = (path: string): boolean => path.startsWith('/console') && path !== '/console/explain';

const cut = (text: string, maxCharacters = MAX_NAME_CHARACTERS): string => cutText(text, maxCharacters);

function lineOf(request: IncomingRequest, time: string, isRunning: boolean): string {
  const { info, exchange, user, userAgent, auditId, receivedAtMs, finishedAtMs, errorMessage } = request;
  const queryStart = exchange.target.indexOf('?');
  const endMs = isRunning ? performance.now() : finishedAtMs;
  const record = {
    time,
    user: cut(user.name),
    userAgent: cut(userAgent),
    sourceIP: exchange.remoteAddress,
    verb: info.verb,
    method: exchange.method,
    path: cut(info.path, MAX_PATH_CHARACTERS),
    query: queryStart < 0 ? '' : cut(exchange.target.slice(queryStart + 1), MAX_PATH_CHARACTERS),
    group: cut(info.apiGroup),
    version: cut(info.apiVersion),
    resource: cut(info.resource),
    subresource: cut(info.subresource),
    namespace: cut(info.namespace),
    name: cut(info.name),
    code: exchange.status,
    durationMs: Math.round((endMs - receivedAtMs) * 1000) / 1000,
    auditID: auditId,
    isWatch: info.verb === 'watch',
    isRunning,
    ...(errorMessage !== '' && { message: cut(errorMessage, MAX_PATH_CHARACTERS) }),
  };
  return `${JSON.stringify(record)}\n`;
}

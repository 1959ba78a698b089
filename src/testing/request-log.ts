import { resourceOf } from '../faults/injector.ts';
import { EXEMPT_AGENT } from '../faults/filter.ts';
import type { RequestObserver } from '../server/filters/request-observer.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import type { RecordedRequest, RequestLog, RequestMatch } from './recorded-request.ts';

const LIMIT = 10_000;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_REPORT = 30;

class Entry implements RecordedRequest {
  readonly at = new Date();
  durationMs: number | undefined = undefined;
  #request: IncomingRequest | undefined;
  #user = '';
  #code = 0;
  readonly userAgent: string;
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;

  constructor(request: IncomingRequest) {
    const { info, exchange, userAgent } = request;
    this.#request = request;
    this.userAgent = userAgent;
    this.verb = info.verb;
    this.resource = info.isResourceRequest ? resourceOf(info) : '';
    this.namespace = info.namespace;
    this.name = info.name;
    this.path = exchange.target;
  }

  get user(): string {
    return this.#request?.user.name ?? this.#user;
  }

  get code(): number {
    return this.#request?.exchange.status ?? this.#code;
  }

  /** The request itself is not kept: it holds its connection. */
  finish({ user, exchange, receivedAtMs }: IncomingRequest): void {
    this.#user = user.name;
    this.#code = exchange.status;
    this.durationMs = performance.now() - receivedAtMs;
    this.#request = undefined;
  }
}

export class RecordedRequests implements RequestLog {
  readonly #entries: Entry[] = [];
  readonly #waiting = new Set<(entry: RecordedRequest) => void>();

  /** Records each request when it comes, and completes the record when it is over. */
  readonly observe: RequestObserver = (request) => {
    if (request.userAgent === EXEMPT_AGENT) return undefined;
    const entry = new Entry(request);
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * LIMIT) this.#entries.splice(0, LIMIT);
    const tell = (): void => this.#waiting.forEach((look) => look(entry));
    return {
      // A watch is under way for as long as its client likes: it counts as soon as it was answered.
      streams: tell,
      ended: (finished) => {
        entry.finish(finished);
        tell();
      },
    };
  };

  all(): readonly RecordedRequest[] {
    return this.#entries;
  }

  filter(match: RequestMatch): RecordedRequest[] {
    return this.#entries.filter(matcherOf(match));
  }

  waitFor(match: RequestMatch, { timeout = DEFAULT_TIMEOUT_MS }: { timeout?: number } = {}): Promise<RecordedRequest> {
    const isMatch = matcherOf(match);
    const isAnswered = (entry: RecordedRequest): boolean => entry.durationMs !== undefined || entry.code !== 0;
    const found = this.#entries.find((entry) => isAnswered(entry) && isMatch(entry));
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const look = (entry: RecordedRequest): void => {
        if (!isMatch(entry)) return;
        this.#waiting.delete(look);
        clearTimeout(timer);
        resolve(entry);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`waited ${timeout} ms for a request ${describe(match)}, in vain; the last ones:\n${this.report()}`));
      }, timeout);
      this.#waiting.add(look);
    });
  }

  assertNoneFailed(match: RequestMatch = {}): void {
    const failed = this.filter(match).filter(({ code, durationMs }) => code >= 400 || (code === 0 && durationMs !== undefined));
    if (failed.length > 0) throw new Error(`${failed.length} requests failed:\n${failed.slice(-DEFAULT_REPORT).map(lineOf).join('\n')}`);
  }

  report(count = DEFAULT_REPORT, match: RequestMatch = {}): string {
    return this.filter(match).slice(-count).map(lineOf).join('\n') || '(none)';
  }

  clear(): void {
    this.#entries.length = 0;
  }
}

function matcherOf(match: RequestMatch): (request: RecordedRequest) => boolean {
  if (typeof match === 'function') return match;
  const expected = Object.entries(match) as [keyof RecordedRequest, unknown][];
  return (request) => expected.every(([field, value]) => request[field] === value);
}

const describe = (match: RequestMatch): string => (typeof match === 'function' ? 'that the function is true for' : `with ${JSON.stringify(match)}`);

const lineOf = ({ at, verb, path, code, durationMs, user, userAgent }: RecordedRequest): string =>
  `  ${at.toISOString()} ${verb} ${path} → ${code === 0 ? 'no answer' : code}${durationMs === undefined ? '' : ` in ${durationMs.toFixed(1)} ms`}, ${user} (${userAgent})`;

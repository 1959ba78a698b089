import type { RequestInfo, ServerRequest } from '../endpoints/request.ts';
import type { LatencyPart, RequestWait } from '../registry/request-context.ts';
import type { StepObserver } from '../registry/step-observer.ts';
import type { Exchange } from '../serving/exchange.ts';
import { withListener } from '../util/listeners.ts';
import { ANONYMOUS, type User } from '../api/user.ts';
import type { RequestAudit } from './auditor.ts';
import { WarningRecorder, isAscii } from './filters/warnings.ts';
import { type RunningRequest, fingerprintOf } from './running-request.ts';
import { emptyRequestInfo } from './request-info.ts';
import { firstQueryValue, parseQuery, splitTarget } from './request-target.ts';
import { TrackedExchange } from './tracked-exchange.ts';
import type { RequestTrace } from './tracing/tracer.ts';

/** Before the request-info filter has run. */
const UNKNOWN_INFO: RequestInfo = Object.freeze(emptyRequestInfo(''));

const NO_WARNINGS: readonly string[] = Object.freeze([]);
const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map();
const NO_LATENCIES: ReadonlyMap<LatencyPart, number> = new Map();
/** Parts whose times are not added up: the longest is what the request waited for. */
const PARALLEL_PARTS: ReadonlySet<LatencyPart> = new Set<LatencyPart>(['apf-queue-wait', 'authorization', 'validating-webhook']);

/** A part of a request that took so long that a slow request is told with it. */
export interface SlowPart {
  part: LatencyPart;
  durationMs: number;
  /** In the clock of performance.now(). */
  endMs: number;
}

/** Upstream's threshold of traces, for all requests but long-running ones (apiserver/pkg/endpoints/handlers). */
const SLOW_MS = 500;
const SLOW_PART_MS = 5;
/** Webhooks and tries may be many. */
const MAX_SLOW_PARTS = 32;
const NO_PARTS: readonly SlowPart[] = Object.freeze([]);

export type FinishListener = (request: IncomingRequest) => void;

/** The request as the filters build it up. What most requests do not use (query, warnings, signal, annotations) is made on first use. */
export class IncomingRequest implements ServerRequest {
  readonly exchange: TrackedExchange;
  readonly receivedAtMs = performance.now();
  readonly responseHeaders: Record<string, string | string[]> = {};
  info: RequestInfo = UNKNOWN_INFO;
  user: User = ANONYMOUS;
  /** Who was authenticated, whomever it impersonates; empty before that. */
  clientName = '';
  auditId = '';
  deadlineMs: number | undefined = undefined;
  route: 'built-in' | 'custom' | undefined = undefined;
  /** Watches, proxies and streams: no deadline, no place in the in-flight limits. Set with `info`. */
  isLongRunning = false;
  /** It came before all paths were installed, so an unknown path is answered 503, not 404. */
  cameBeforePathsInstalled = false;
  /** From the start where the server audits, until the audit filter finds that nothing of this request is recorded; annotations of others are not kept. */
  isAudited = false;
  /** Set by the audit filter, or by one that refuses the request in front of it. */
  audit: RequestAudit | undefined = undefined;
  /** Set where the server traces requests. */
  trace: RequestTrace | undefined = undefined;
  waitsFor: RequestWait | undefined = undefined;
  asOf: number | undefined = undefined;
  /** Set where the request is rehearsed. */
  observer: StepObserver | undefined = undefined;
  /** Where `logWarning` writes to. */
  warningLog: ((message: string, fields: Readonly<Record<string, unknown>>) => void) | undefined = undefined;
  /** Called when the request is over, where it took SLOW_MS or more. */
  onSlow: FinishListener | undefined = undefined;
  /** When it was over, in the clock of performance.now(); for those who are told that it is. */
  finishedAtMs = 0;
  errorMessage = '';
  /** The body, once it is read, where a supervisor wants requests to be known again. */
  knownBody: Buffer | undefined = undefined;
  /** When the filter that has the request now got it: the end of the one before. */
  filterStartMs = 0;
  /** Among those whose handler is at work, and that have a deadline. */
  bagIndex = 0;

  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #warnings: WarningRecorder | undefined;
  #auditAnnotations: Map<string, string> | undefined;
  #latencies: Map<LatencyPart, number> | undefined;
  #slowParts: SlowPart[] | undefined;
  #finishListeners: readonly FinishListener[] | undefined;
  #isFinished = false;
  #excludedMs = 0;
  #validatingMs = 0;

  constructor(exchange: Exchange) {
    this.exchange = new TrackedExchange(exchange, this);
  }

  get query(): URLSearchParams {
    this.#query ??= parseQuery(splitTarget(this.exchange.target).query);
    return this.#query;
  }

  /** One query parameter, without parsing them all. */
  queryValue(name: string): string | undefined {
    return this.exchange.target.includes('?') ? firstQueryValue(splitTarget(this.exchange.target).query, name) : undefined;
  }

  get userAgent(): string {
    const userAgent = this.exchange.headers['user-agent'] ?? '';
    // The map of headers holds a character a byte; their list holds what the bytes mean.
    return isAscii(userAgent) ? userAgent : (this.exchange.headerValues('user-agent')[0] ?? '');
  }

  get warnings(): readonly string[] {
    return this.#warnings?.texts ?? NO_WARNINGS;
  }

  /** Goes into `responseHeaders` at once: an answer begun later carries it. */
  warn(text: string): void {
    this.#warnings ??= new WarningRecorder();
    if (this.#warnings.add(text)) this.responseHeaders['warning'] = this.#warnings.headers;
  }

  get auditAnnotations(): ReadonlyMap<string, string> {
    return this.#auditAnnotations ?? NO_ANNOTATIONS;
  }

  /** The first value of a key stays (apiserver/pkg/audit). */
  annotateAudit(key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    if (!this.isAudited || (level === 'Request' && !this.audit?.keepsRequest)) return;
    this.#auditAnnotations ??= new Map();
    if (!this.#auditAnnotations.has(key)) this.#auditAnnotations.set(key, value);
  }

  get latencies(): ReadonlyMap<LatencyPart, number> {
    return this.#latencies ?? NO_LATENCIES;
  }

  /** The time in queues and webhooks, which the indicator of the server's own latency leaves out (apiserver/pkg/endpoints/metrics, MonitorRequest). */
  get excludedMs(): number {
    return this.#excludedMs + this.#validatingMs;
  }

  get traceparent(): string | undefined {
    return this.trace?.traceparent;
  }

  noteLatency(part: LatencyPart, durationMs: number): void {
    this.trace?.step(part, durationMs);
    if (part === 'apf-queue-wait' || part === 'mutating-webhook') this.#excludedMs += durationMs;
    else if (part === 'validating-webhook') this.#validatingMs = Math.max(this.#validatingMs, durationMs);
    if (durationMs >= SLOW_PART_MS) this.#noteSlowPart(part, durationMs);
    if (!this.isAudited) return;
    this.#latencies ??= new Map();
    const former = this.#latencies.get(part) ?? 0;
    this.#latencies.set(part, PARALLEL_PARTS.has(part) ? Math.max(former, durationMs) : former + durationMs);
  }

  #noteSlowPart(part: LatencyPart, durationMs: number): void {
    this.#slowParts ??= [];
    if (this.#slowParts.length < MAX_SLOW_PARTS) this.#slowParts.push({ part, durationMs, endMs: performance.now() });
  }

  get slowParts(): readonly SlowPart[] {
    return this.#slowParts ?? NO_PARTS;
  }

  logWarning(message: string, fields: Readonly<Record<string, unknown>>): void {
    const { verb, resource, namespace, name } = this.info;
    this.warningLog?.(message, { ...fields, verb, resource, namespace, name, auditId: this.auditId });
  }

  /** For the report of a stall (src/supervision/main-thread-stack.ts), which calls it by this name. */
  describeRunning(): RunningRequest {
    const { verb, apiGroup, apiVersion, resource, subresource, namespace, name, path, isResourceRequest } = this.info;
    return {
      user: this.user.name,
      verb,
      resource: isResourceRequest ? [apiGroup, apiVersion, resource, subresource].filter(Boolean).join('/') : path,
      namespace,
      name,
      auditId: this.auditId,
      fingerprint: fingerprintOf(this),
    };
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.exchange.onClose(() => {
        if (!this.#isFinished) this.abort(CLIENT_GONE);
      });
    }
    return this.#controller.signal;
  }

  /** Tells the handler to stop: the deadline has passed, or the server ends its watches. */
  abort(reason: Error): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }

  /** Calls back once, when the request is over: the handler has returned and, if it is long-running, its answer has ended. */
  onFinish(listener: FinishListener): void {
    this.#finishListeners = withListener(this.#finishListeners, listener);
  }

  /** The panic guard's to call; later calls do nothing. All listeners are called, whatever one of them throws, which is told to `onFault`. */
  finish(onFault: (error: unknown) => void): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.finishedAtMs = performance.now();
    if (this.onSlow !== undefined && this.finishedAtMs - this.receivedAtMs >= SLOW_MS && !this.isLongRunning) this.onFinish(this.onSlow);
    if (this.#finishListeners === undefined) return;
    for (const listener of this.#finishListeners) {
      try {
        listener(this);
      } catch (error) {
        onFault(error);
      }
    }
  }
}

/** Made once: the reason's stack would cost more than most requests. */
const CLIENT_GONE = new Error('the client has gone');

import type { User } from '../api/user.ts';
import type { StepObserver } from './step-observer.ts';

/**
 * As the audit event's annotations name them, `apiserver.latency.k8s.io/<part>` (apiserver/pkg/endpoints/request/webhook_duration.go). The time of writing
 * is the exchange's to tell; that of decoding what was listed is none here, where lists are spliced.
 */
export type LatencyPart =
  | 'apf-queue-wait'
  | 'authentication'
  | 'authorization'
  | 'etcd'
  | 'impersonation'
  | 'mutating-webhook'
  | 'serialize-response-object'
  | 'transform-response-object'
  | 'validating-webhook';

/** What a request waits for, as a list of requests under way names it. */
export type RequestWait = LatencyPart | 'request-body';

/** Of longer objects, each phase of a write (parsing, decoding, ownership, defaults, validation, encoding) takes milliseconds. */
export const LARGE_BYTES = 64 * 1024;

/** What the layers below the endpoints know of the request they work for. Controllers inside the process make their own. */
export interface RequestContext {
  user: User;
  userAgent: string;
  /** Who was authenticated, whomever it impersonates. Absent where nobody had to be. */
  readonly clientName?: string;
  /** Absent where the work is no request's. */
  readonly auditId?: string;
  /** Shown to the client in a `Warning: 299` header; equal texts once. */
  warn(text: string): void;
  /** Recorded with the request's audit event, where its level is that or a higher one; `Metadata` where none is named. */
  annotateAudit(key: string, value: string, level?: 'Metadata' | 'Request'): void;
  /** A part of the time that the request took; told with its audit event where it was slow. Absent where nobody asks. */
  noteLatency?(part: LatencyPart, durationMs: number): void;
  /** Writes a line to the server's log, with the request's audit id. Absent where the work is no request's. */
  logWarning?(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** Set while the request waits, for whoever looks at what the server is at work on (`/debug/pprof/goroutine`). Of several waits, one. */
  waitsFor?: RequestWait | undefined;
  /** What goes along with requests that are made for this one: W3C's `traceparent`. Absent where nothing is traced. */
  readonly traceparent?: string | undefined;
  /** What is written is so long (LARGE_BYTES) that others have a turn of the event loop between the phases of the write. */
  isLarge?: boolean;
  /** Of a request that is rehearsed; absent from all others. */
  readonly observer?: StepObserver | undefined;
  /** Aborted when the client has gone or the deadline has passed. */
  signal: AbortSignal | undefined;
}

import { randomBytes } from 'node:crypto';
import type { LatencyPart } from '../../registry/request-context.ts';
import { SPAN_KIND, type Span, type SpanKind } from './span.ts';
import { type TraceContext, formatTraceparent } from './trace-context.ts';

export interface TracerOptions {
  /** Of a million traces that begin here, so many are sampled. */
  samplingRatePerMillion: number;
  /** Takes the spans of sampled traces. Must not wait. */
  record: (span: Span) => void;
}

/** A request as a trace sees it. */
export interface RequestTrace {
  /** What requests that are made for this one carry as `traceparent`. */
  readonly traceparent: string;
  /** A part of the work is over, and took so long. */
  step(part: LatencyPart, durationMs: number): void;
}

/** The rest is work of our own. */
const CLIENT_PARTS: ReadonlySet<LatencyPart> = new Set<LatencyPart>(['etcd', 'mutating-webhook', 'validating-webhook']);

/** Begins spans, and decides which are sampled (OpenTelemetry's ParentBased and TraceIDRatioBased samplers). */
export class Tracer {
  readonly #options: TracerOptions;
  /** Traces whose id's second half, shifted by a bit, is below are sampled: all servers that have the same rate decide alike. */
  readonly #below: bigint;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#below = (BigInt(options.samplingRatePerMillion) * 2n ** 63n) / 1_000_000n;
  }

  /** A part of the parent's trace, sampled as that is; or the first of a trace of its own. */
  begin(parent: TraceContext | undefined): TraceContext {
    const spanId = randomBytes(8).toString('hex');
    if (parent) return { traceId: parent.traceId, spanId, isSampled: parent.isSampled };
    const id = randomBytes(16);
    return { traceId: id.toString('hex'), spanId, isSampled: id.readBigUInt64BE(8) >> 1n < this.#below };
  }

  record(span: Span): void {
    this.#options.record(span);
  }

  /** What the request's own trace is to those who work for it. */
  traceOf(context: TraceContext): RequestTrace {
    return {
      traceparent: formatTraceparent(context),
      step: (part, durationMs) => {
        if (context.isSampled) this.#recordStep(context, part, CLIENT_PARTS.has(part) ? SPAN_KIND.CLIENT : SPAN_KIND.INTERNAL, durationMs);
      },
    };
  }

  #recordStep(parent: TraceContext, name: string, kind: SpanKind, durationMs: number): void {
    const endMs = performance.now();
    this.record({ context: this.begin(parent), parentSpanId: parent.spanId, name, kind, startMs: endMs - durationMs, endMs, attributes: {}, hasFailed: false });
  }
}

import type { TraceContext } from './trace-context.ts';

/** OTLP's numbers. */
export const SPAN_KIND = { INTERNAL: 1, SERVER: 2, CLIENT: 3 } as const;
export type SpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];

/** A piece of work that is over. Times are those of performance.now(). */
export interface Span {
  context: TraceContext;
  /** Id of the span that this is a part of; '' for the first of a trace. */
  parentSpanId: string;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, string | number>>;
  hasFailed: boolean;
  /** A trace that led here, and that this one is no part of. */
  link?: TraceContext | undefined;
}

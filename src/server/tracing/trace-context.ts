/** Where in a trace something is, as the W3C Trace Context has it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  isSampled: boolean;
}

/** Later versions may say more behind what the first says (Trace Context, 3.2.4). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** What a `traceparent` header says; undefined where it says nothing that counts. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header ?? '') ?? [];
  if (traceId === undefined || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string => `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

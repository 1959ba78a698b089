import { describe, expect, test, vi } from 'vitest';
import { ProtobufReader } from '../../encoding/protobuf-wire.ts';
import { encodeExport } from './otlp.ts';
import { SpanBatches } from './span-batches.ts';
import { SPAN_KIND, type Span } from './span.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';
import { Tracer } from './tracer.ts';

const TRACE = 'ab'.repeat(16);
const SPAN = 'cd'.repeat(8);

describe('traceparent (W3C Trace Context)', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
    [`00-${TRACE}-${SPAN}-02`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
    [`cc-${TRACE}-${SPAN}-01-more`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
    [`00-${TRACE}-${SPAN}-01-more`, undefined],
    [`ff-${TRACE}-${SPAN}-01`, undefined],
    [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (header, context) => expect(parseTraceparent(header)).toEqual(context));

  test('is written as it is read', () => {
    const header = `00-${TRACE}-${SPAN}-01`;
    expect(formatTraceparent(parseTraceparent(header)!)).toBe(header);
  });
});

describe('sampling', () => {
  const share = (samplingRatePerMillion: number): number => {
    const tracer = new Tracer({ samplingRatePerMillion, record: () => {} });
    let count = 0;
    for (let i = 0; i < 4000; i++) if (tracer.begin(undefined).isSampled) count++;
    return count / 4000;
  };

  test('is by the rate, where a trace begins here', () => {
    expect(share(0)).toBe(0);
    expect(share(1_000_000)).toBe(1);
    expect(Math.abs(share(250_000) - 0.25)).toBeLessThan(0.06);
  });

  test.each([true, false])('is as the parent has it: %s', (isSampled) => {
    const tracer = new Tracer({ samplingRatePerMillion: 500_000, record: () => {} });
    const context = tracer.begin({ traceId: TRACE, spanId: SPAN, isSampled });
    expect(context).toMatchObject({ traceId: TRACE, isSampled });
    expect(context.spanId).toMatch(/^(?!cdcd)[0-9a-f]{16}$/);
  });

  test('steps are parts of the request', () => {
    const spans: Span[] = [];
    const tracer = new Tracer({ samplingRatePerMillion: 0, record: (span) => spans.push(span) });
    tracer.traceOf({ traceId: TRACE, spanId: SPAN, isSampled: false }).step('etcd', 5);
    expect(spans).toEqual([]);
    const trace = tracer.traceOf({ traceId: TRACE, spanId: SPAN, isSampled: true });
    trace.step('etcd', 5);
    trace.step('authorization', 1);
    expect(trace.traceparent).toBe(`00-${TRACE}-${SPAN}-01`);
    expect(spans.map(({ name, kind, parentSpanId, context }) => [name, kind, parentSpanId, context.traceId])).toEqual([
      ['etcd', SPAN_KIND.CLIENT, SPAN, TRACE],
      ['authorization', SPAN_KIND.INTERNAL, SPAN, TRACE],
    ]);
    expect(spans[0]!.endMs - spans[0]!.startMs).toBeCloseTo(5);
  });
});

const span = (name: string): Span => ({
  context: { traceId: TRACE, spanId: SPAN, isSampled: true },
  parentSpanId: '',
  name,
  kind: SPAN_KIND.SERVER,
  startMs: 1,
  endMs: 2,
  attributes: { 'http.target': '/x', 'http.response.status_code': 500 },
  hasFailed: true,
  link: { traceId: 'ef'.repeat(16), spanId: '01'.repeat(8), isSampled: true },
});

test('spans are written as OTLP', () => {
  const message = encodeExport({ 'service.name': 'apiserver' }, [span('GET /x')]);
  const nanoseconds = Buffer.alloc(8);
  nanoseconds.writeBigUInt64LE(BigInt(Math.round((performance.timeOrigin + 1) * 1000)) * 1000n);
  expect(fieldsOf(message)).toEqual({ 1: [expect.any(Buffer)] });
  const resourceSpans = fieldsOf(fieldsOf(message)[1]![0] as Buffer);
  expect(String(resourceSpans[1]![0])).toContain('service.name');
  const scopeSpans = fieldsOf(resourceSpans[2]![0] as Buffer);
  const written = fieldsOf(scopeSpans[2]![0] as Buffer);
  expect(written[1]).toEqual([Buffer.from(TRACE, 'hex')]);
  expect(written[2]).toEqual([Buffer.from(SPAN, 'hex')]);
  expect(written[4]).toBeUndefined();
  expect(String(written[5]![0])).toBe('GET /x');
  expect(written[6]).toEqual([2]);
  expect(written[7]).toEqual([nanoseconds]);
  expect(written[9]).toHaveLength(2);
  expect(fieldsOf(fieldsOf(written[9]![1] as Buffer)[2]![0] as Buffer)).toEqual({ 3: [500] });
  expect(fieldsOf(written[13]![0] as Buffer)[1]).toEqual([Buffer.from('ef'.repeat(16), 'hex')]);
  expect(fieldsOf(written[15]![0] as Buffer)).toEqual({ 3: [2] });
});

/** The fields of a message by number: bytes, and numbers. */
function fieldsOf(message: Buffer): Record<number, (Buffer | number)[]> {
  const reader = new ProtobufReader(message);
  const fields: Record<number, (Buffer | number)[]> = {};
  while (!reader.done) {
    const tag = reader.varint();
    const wire = tag % 8;
    const value = wire === 0 ? reader.varint() : wire === 1 ? fixed64(reader) : reader.bytes();
    (fields[tag >> 3] ??= []).push(value);
  }
  return fields;
}

function fixed64(reader: ProtobufReader): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(reader.double());
  return bytes;
}

describe('batches', () => {
  test('are sent when full, one at a time, and at the end; too many spans are dropped, and a failure loses its batch only', async () => {
    const sent: number[] = [];
    const failures: string[] = [];
    let release = (): void => {};
    const batches = new SpanBatches({
      send: async (spans) => {
        sent.push(spans.length);
        await new Promise<void>((resolve) => (release = resolve));
        if (sent.length === 1) throw new Error('away');
      },
      onFailure: ({ message }) => failures.push(message),
    });
    for (let i = 0; i < 5000; i++) batches.add(span(`${i}`));
    expect(sent).toEqual([512]);
    const closed = batches.close();
    for (let i = 0; i < 5; i++) {
      await vi.waitFor(() => expect(sent).toHaveLength(i + 1));
      release();
    }
    await closed;
    expect(sent).toEqual([512, 512, 512, 512, 512]);
    expect(failures).toEqual(['away']);
  });
});

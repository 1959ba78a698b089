import { ProtobufWriter, WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, tagOf } from '../../encoding/protobuf-wire.ts';
import type { Span } from './span.ts';
import type { TraceContext } from './trace-context.ts';

/* The messages of OTLP (opentelemetry/proto/trace/v1/trace.proto, …/collector/trace/v1/trace_service.proto). */

export const EXPORT_PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const SCOPE_NAME = 'binnacle';
const STATUS_ERROR = 2;

type Attributes = Span['attributes'];

/** An ExportTraceServiceRequest of spans that one server made. */
export function encodeExport(resource: Attributes, spans: readonly Span[]): Buffer {
  return message((request) =>
    request.nested(1, (resourceSpans) => {
      resourceSpans.nested(1, (described) => described.attributes(1, resource));
      resourceSpans.nested(2, (scopeSpans) => {
        scopeSpans.nested(1, (scope) => scope.text(1, SCOPE_NAME));
        for (const span of spans) scopeSpans.nested(2, (fields) => writeSpan(fields, span));
      });
    }),
  );
}

function writeSpan(fields: Fields, { context, parentSpanId, name, kind, startMs, endMs, attributes, hasFailed, link }: Span): void {
  writeContext(fields, context);
  fields.bytes(4, Buffer.from(parentSpanId, 'hex'));
  fields.text(5, name);
  fields.number(6, kind);
  fields.fixed64(7, unixNanoseconds(startMs));
  fields.fixed64(8, unixNanoseconds(endMs));
  fields.attributes(9, attributes);
  if (link) fields.nested(13, (linked) => writeContext(linked, link));
  if (hasFailed) fields.nested(15, (status) => status.number(3, STATUS_ERROR));
}

function writeContext(fields: Fields, { traceId, spanId }: TraceContext): void {
  fields.bytes(1, Buffer.from(traceId, 'hex'));
  fields.bytes(2, Buffer.from(spanId, 'hex'));
}

const unixNanoseconds = (timeMs: number): bigint => BigInt(Math.round((performance.timeOrigin + timeMs) * 1000)) * 1000n;

/** Fields of a message, told first to last and written last to first, as the writer needs them. */
class Fields {
  readonly #parts: (() => void)[] = [];
  readonly #writer: ProtobufWriter;
  constructor(writer: ProtobufWriter) {
    this.#writer = writer;
  }

  text(number: number, value: string): void {
    this.#add(number, WIRE_BYTES, () => this.#writer.string(value));
  }
  bytes(number: number, value: Buffer): void {
    if (value.length > 0) this.#add(number, WIRE_BYTES, () => this.#writer.bytes(value));
  }
  number(number: number, value: number): void {
    this.#add(number, WIRE_VARINT, () => this.#writer.varint(value));
  }
  fixed64(number: number, value: bigint): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    this.#add(number, WIRE_FIXED64, () => this.#writer.raw(bytes));
  }
  nested(number: number, fill: (fields: Fields) => void): void {
    this.#add(number, WIRE_BYTES, () => {
      const before = this.#writer.size;
      const fields = new Fields(this.#writer);
      fill(fields);
      fields.write();
      this.#writer.lengthSince(before);
    });
  }
  /** Of KeyValue, whose value is an AnyValue. */
  attributes(number: number, values: Attributes): void {
    for (const [key, value] of Object.entries(values)) {
      this.nested(number, (pair) => {
        pair.text(1, key);
        pair.nested(2, (any) => (typeof value === 'string' ? any.text(1, value) : any.number(3, value)));
      });
    }
  }

  /** Once, when all are told. */
  write(): void {
    for (const part of this.#parts.toReversed()) part();
  }

  #add(number: number, wireType: number, write: () => void): void {
    this.#parts.push(() => {
      write();
      this.#writer.varint(tagOf(number, wireType));
    });
  }
}

function message(fill: (fields: Fields) => void): Buffer {
  const writer = new ProtobufWriter();
  const fields = new Fields(writer);
  fill(fields);
  fields.write();
  return writer.finish();
}

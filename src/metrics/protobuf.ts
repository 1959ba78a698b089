import { writeInt64Field, writeMessageField, writeStringField } from '../encoding/protobuf-fields.ts';
import { ProtobufWriter, WIRE_FIXED64, WIRE_VARINT, tagOf } from '../encoding/protobuf-wire.ts';
import type { MetricType } from './declaration.ts';
import { HistogramSeries, type LabelledSeries } from './family.ts';
import { type BucketRun, type NativeBuckets, ZERO_THRESHOLD } from './native-buckets.ts';
import type { ExpositionFormat, FamilyHead } from './page.ts';
import type { Sample } from './text.ts';

/** One series, with its labels by name. */
export interface LabelledSamples {
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly samples: readonly Sample[];
  readonly native?: NativeBuckets | undefined;
}

/* io.prometheus.client (client_model, metrics.proto): enum MetricType, and where in a Metric the value of each type is. */
const TYPES: Readonly<Record<MetricType, { number: number; field: number }>> = {
  counter: { number: 0, field: 3 },
  gauge: { number: 1, field: 2 },
  summary: { number: 2, field: 4 },
  histogram: { number: 4, field: 7 },
};

/** Prometheus' protobuf format: each MetricFamily with its length before it. */
export const protobufFormat: ExpositionFormat = {
  contentType: 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
  head: encodeHead,
  series({ type, labels }, series) {
    const order = labels.map((name, index) => ({ name, index })).sort((a, b) => (a.name < b.name ? -1 : 1));
    const read = ({ values, series: one }: LabelledSeries): LabelledSamples => ({
      labels: order.map(({ name, index }) => [name, values[index]!] as const),
      samples: one.samples(),
      native: one instanceof HistogramSeries ? one.native : undefined,
    });
    return encodeSeries(type, series.map(read));
  },
};

/** What comes before the series of a family, which take `seriesBytes`. */
export function encodeHead({ name, help, type }: Pick<FamilyHead, 'name' | 'help' | 'type'>, seriesBytes: number): Buffer {
  const writer = new ProtobufWriter();
  writer.varint(TYPES[type].number);
  writer.varint(tagOf(3, WIRE_VARINT));
  writeStringField(writer, 2, help);
  writeStringField(writer, 1, name);
  writer.varint(writer.size + seriesBytes);
  return writer.finish();
}

/** Writers go from the end to the start, and so do the series. */
export function encodeSeries(type: MetricType, series: readonly LabelledSamples[]): Buffer {
  const writer = new ProtobufWriter();
  for (let i = series.length - 1; i >= 0; i--) writeMessageField(writer, 4, () => writeMetric(writer, type, series[i]!));
  return writer.finish();
}

function writeMetric(writer: ProtobufWriter, type: MetricType, { labels, samples, native }: LabelledSamples): void {
  writeMessageField(writer, TYPES[type].field, () => {
    if (native) writeNative(writer, native);
    if (type === 'histogram' || type === 'summary') writeBuckets(writer, samples);
    else writeValue(writer, samples);
  });
  for (let i = labels.length - 1; i >= 0; i--)
    writeMessageField(writer, 1, () => {
      const [name, value] = labels[i]!;
      // An empty value is one, too.
      writer.string(value);
      writer.varint(VALUE_TAG);
      writeStringField(writer, 1, name);
    });
}

const VALUE_TAG = tagOf(2, 2);

/** A Counter or a Gauge. */
function writeValue(writer: ProtobufWriter, samples: readonly Sample[]): void {
  writeDouble(writer, 1, samples[0]!.value);
}

/** A Histogram, or a Summary, which has no buckets here: both have their count and sum in the same fields. The last bucket, of all, is not written. */
function writeBuckets(writer: ProtobufWriter, samples: readonly Sample[]): void {
  for (let i = samples.length - 1; i >= 0; i--) {
    const { suffix, le, value } = samples[i]!;
    if (suffix !== '_bucket' || le === Infinity) continue;
    writeMessageField(writer, 3, () => {
      writeDouble(writer, 2, le!);
      writeCount(writer, value);
    });
  }
  writeDouble(writer, 2, samples.at(-2)!.value);
  writeCount(writer, samples.at(-1)!.value);
}

/** Zero is written, too. Weights of time may be fractions, which counts are not. */
function writeCount(writer: ProtobufWriter, count: number, field = 1): void {
  const whole = Math.round(count);
  if (whole !== 0) return writeInt64Field(writer, field, whole);
  writer.varint(0);
  writer.varint(tagOf(field, WIRE_VARINT));
}

/** Spans and deltas of positive values are fields 12 and 13, those of negative ones 9 and 10. */
function writeNative(writer: ProtobufWriter, native: NativeBuckets): void {
  writeRun(writer, 12, native.positive());
  writeRun(writer, 9, native.negative());
  writeCount(writer, native.zeroCount, 7);
  writeDouble(writer, 6, ZERO_THRESHOLD);
  writeSigned(writer, 5, native.schema);
}

function writeRun(writer: ProtobufWriter, spansField: number, { spans, deltas }: BucketRun): void {
  for (let i = deltas.length - 1; i >= 0; i--) writeSigned(writer, spansField + 1, deltas[i]!);
  for (let i = spans.length - 1; i >= 0; i--)
    writeMessageField(writer, spansField, () => {
      const { offset, length } = spans[i]!;
      writeCount(writer, length, 2);
      writeSigned(writer, 1, offset);
    });
}

/** sint32 and sint64: zigzag. */
function writeSigned(writer: ProtobufWriter, field: number, value: number): void {
  writer.varint(value < 0 ? -2 * value - 1 : 2 * value);
  writer.varint(tagOf(field, WIRE_VARINT));
}

function writeDouble(writer: ProtobufWriter, field: number, value: number): void {
  writer.double(value);
  writer.varint(tagOf(field, WIRE_FIXED64));
}

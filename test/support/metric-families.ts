import { type DescMessage, type JsonObject, createFileRegistry, fromJson, toJson } from '@bufbuild/protobuf';
import { sizeDelimitedDecodeStream } from '@bufbuild/protobuf/wire';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

/* Reads pages of metrics in protobuf, by the definition that Prometheus publishes (client_model, io/prometheus/client/metrics.proto). */

/** As far as it is of use here. */
const field = (name: string, number: number, type: string, { isRepeated = false, typeName = '' } = {}): JsonObject => ({
  name,
  jsonName: name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase()),
  number,
  type: `TYPE_${type}`,
  label: isRepeated ? 'LABEL_REPEATED' : 'LABEL_OPTIONAL',
  ...(typeName !== '' && { typeName: `.io.prometheus.client.${typeName}` }),
});
const message = (name: string, ...fields: JsonObject[]): JsonObject => ({ name, field: fields });
const nested = (name: string, number: number, typeName: string, isRepeated = false): JsonObject => field(name, number, 'MESSAGE', { isRepeated, typeName });

const METRICS_PROTO = {
  name: 'io/prometheus/client/metrics.proto',
  package: 'io.prometheus.client',
  syntax: 'proto2',
  enumType: [{ name: 'MetricType', value: ['COUNTER', 'GAUGE', 'SUMMARY', 'UNTYPED', 'HISTOGRAM'].map((name, number) => ({ name, number })) }],
  messageType: [
    message('LabelPair', field('name', 1, 'STRING'), field('value', 2, 'STRING')),
    message('Gauge', field('value', 1, 'DOUBLE')),
    message('Counter', field('value', 1, 'DOUBLE')),
    message('Quantile', field('quantile', 1, 'DOUBLE'), field('value', 2, 'DOUBLE')),
    message('Summary', field('sample_count', 1, 'UINT64'), field('sample_sum', 2, 'DOUBLE'), nested('quantile', 3, 'Quantile', true)),
    message('Bucket', field('cumulative_count', 1, 'UINT64'), field('upper_bound', 2, 'DOUBLE')),
    message('BucketSpan', field('offset', 1, 'SINT32'), field('length', 2, 'UINT32')),
    message(
      'Histogram',
      field('sample_count', 1, 'UINT64'),
      field('sample_sum', 2, 'DOUBLE'),
      nested('bucket', 3, 'Bucket', true),
      field('schema', 5, 'SINT32'),
      field('zero_threshold', 6, 'DOUBLE'),
      field('zero_count', 7, 'UINT64'),
      nested('negative_span', 9, 'BucketSpan', true),
      field('negative_delta', 10, 'SINT64', { isRepeated: true }),
      nested('positive_span', 12, 'BucketSpan', true),
      field('positive_delta', 13, 'SINT64', { isRepeated: true }),
    ),
    message(
      'Metric',
      nested('label', 1, 'LabelPair', true),
      nested('gauge', 2, 'Gauge'),
      nested('counter', 3, 'Counter'),
      nested('summary', 4, 'Summary'),
      nested('histogram', 7, 'Histogram'),
    ),
    message(
      'MetricFamily',
      field('name', 1, 'STRING'),
      field('help', 2, 'STRING'),
      field('type', 3, 'ENUM', { typeName: 'MetricType' }),
      nested('metric', 4, 'Metric', true),
    ),
  ],
};

const MetricFamilySchema: DescMessage = createFileRegistry(fromJson(FileDescriptorSetSchema, { file: [METRICS_PROTO] })).getMessage(
  'io.prometheus.client.MetricFamily',
)!;

export interface DecodedFamily {
  name: string;
  help: string;
  type: string;
  metric: JsonObject[];
}

/** The families of a page in `encoding=delimited`, as protobuf prints them in JSON. */
export async function decodeFamilies(page: Uint8Array): Promise<DecodedFamily[]> {
  const families: DecodedFamily[] = [];
  for await (const family of sizeDelimitedDecodeStream(MetricFamilySchema, [page] as unknown as AsyncIterable<Uint8Array>))
    families.push(toJson(MetricFamilySchema, family) as unknown as DecodedFamily);
  return families;
}

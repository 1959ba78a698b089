import { expect, test } from 'vitest';
import { protobufFormat } from '../../metrics/protobuf.ts';
import { textFormat } from '../../metrics/text.ts';
import { acceptsGzip, metricsFormat } from './metrics-format.ts';

const PROTOBUF = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

/* What a kube-apiserver v1.36.4 answered in. */
test.each([
  [undefined, `${TEXT}; escaping=underscores`],
  ['*/*', `${TEXT}; escaping=underscores`],
  ['garbage', `${TEXT}; escaping=underscores`],
  ['application/openmetrics-text', `${TEXT}; escaping=underscores`],
  ['text/plain;version=1.0.0', `${TEXT}; escaping=underscores`],
  ['text/plain;escaping=allow-utf-8', `${TEXT}; escaping=allow-utf-8`],
  ['application/openmetrics-text;version=1.0.0;escaping=values;q=0.5,text/plain;version=0.0.4;escaping=dots;q=0.4', `${TEXT}; escaping=dots`],
  [PROTOBUF, `${PROTOBUF}; escaping=underscores`],
  [`${PROTOBUF};escaping=allow-utf-8`, `${PROTOBUF}; escaping=allow-utf-8`],
  [`${PROTOBUF};escaping=nonsense`, `${PROTOBUF}; escaping=underscores`],
  [`text/plain;version=0.0.4;q=0.5,${PROTOBUF};q=0.9`, `${PROTOBUF}; escaping=underscores`],
  [`${PROTOBUF};q=0.7,text/plain;q=0.9`, `${TEXT}; escaping=underscores`],
  ['application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily', `${TEXT}; escaping=underscores`],
  ['application/vnd.google.protobuf', `${TEXT}; escaping=underscores`],
])('who accepts %s is answered in %s', (accept, contentType) => {
  expect(metricsFormat(accept)).toEqual({ contentType, format: contentType.startsWith('application/') ? protobufFormat : textFormat });
});

/* What promhttp compresses where it offers identity and gzip, as kube-apiserver v1.36 does. */
test.each([
  [undefined, false],
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['deflate;q=0.5 , gzip;q=0.2', true],
  ['zstd', false],
  ['*', false],
  ['gzip, identity', false],
  ['gzip, identity;q=0.5', true],
  ['gzip;q=0', false],
  ['br;level=1, gzip', false],
])('who accepts %s is answered in gzip: %s', (accepted, expected) => expect(acceptsGzip(accepted)).toBe(expected));

import { expect, test } from 'vitest';
import { decodeFamilies } from '../../test/support/metric-families.ts';
import { TimeSlice } from '../util/time-slice.ts';
import { counter, gauge, histogram, summary } from './declaration.ts';
import { parsePage } from './parse-text.ts';
import { encodeHead, encodeSeries, protobufFormat } from './protobuf.ts';
import { MetricRegistry } from './registry.ts';
import { EVERY_METRIC } from './selection.ts';

const registry = new MetricRegistry(EVERY_METRIC, {
  a_total: counter('STABLE', 'Line\nbreak \\.', ['verb', 'code']),
  b: gauge('ALPHA', 'B.'),
  c_seconds: histogram('ALPHA', 'C.', [0.5, 1e6], ['l']),
  d_seconds: summary('BETA', 'D.'),
  e_total: counter('ALPHA', 'Never counted.', ['l']),
});
registry.family('a_total').with('a "q"\n', '').inc(3);
registry.family('a_total').with('b, ü', '2').inc();
registry.family('b').with().set(-2.5);
for (const value of [0.5, 2, 1e7]) registry.family('c_seconds').with('x').observe(value);
registry.family('c_seconds').with('y').observe(1, 0);
registry.family('d_seconds').with().observe(1.5);

const EXPECTED = [
  {
    name: 'a_total',
    help: '[STABLE] Line\nbreak \\.',
    type: 'COUNTER',
    metric: [
      {
        label: [
          { name: 'code', value: '' },
          { name: 'verb', value: 'a "q"\n' },
        ],
        counter: { value: 3 },
      },
      {
        label: [
          { name: 'code', value: '2' },
          { name: 'verb', value: 'b, ü' },
        ],
        counter: { value: 1 },
      },
    ],
  },
  { name: 'b', help: '[ALPHA] B.', type: 'GAUGE', metric: [{ gauge: { value: -2.5 } }] },
  {
    name: 'c_seconds',
    help: '[ALPHA] C.',
    type: 'HISTOGRAM',
    metric: [
      {
        label: [{ name: 'l', value: 'x' }],
        histogram: {
          sampleCount: '3',
          sampleSum: 10000002.5,
          bucket: [
            { cumulativeCount: '1', upperBound: 0.5 },
            { cumulativeCount: '2', upperBound: 1e6 },
          ],
        },
      },
      {
        label: [{ name: 'l', value: 'y' }],
        histogram: {
          sampleCount: '0',
          sampleSum: 0,
          bucket: [
            { cumulativeCount: '0', upperBound: 0.5 },
            { cumulativeCount: '0', upperBound: 1e6 },
          ],
        },
      },
    ],
  },
  { name: 'd_seconds', help: '[BETA] D.', type: 'SUMMARY', metric: [{ summary: { sampleCount: '1', sampleSum: 1.5 } }] },
];

test('metrics in protobuf are what a decoder of the public format reads', async () => {
  const chunks: Buffer[] = [];
  for await (const part of registry.printParts(protobufFormat)) chunks.push(Buffer.isBuffer(part) ? part : part.inflate());
  expect(await decodeFamilies(Buffer.concat(chunks))).toEqual(EXPECTED);
});

test('a page of text becomes the same', async () => {
  const families = await parsePage(registry.print(), new TimeSlice());
  const encoded = families.flatMap(({ series, ...head }) => {
    const bytes = encodeSeries(head.type, series);
    return [encodeHead(head, bytes.length), bytes];
  });
  expect(await decodeFamilies(Buffer.concat(encoded))).toEqual(EXPECTED);
});

test('with NativeHistograms they have native buckets beside the others, but for those that weigh values by time', async () => {
  const declared = { c_seconds: histogram('ALPHA', 'C.', [0.5, 1e6], ['l']), w: histogram('ALPHA', 'W.', [1], [], { isWeighted: true }) };
  const native = new MetricRegistry(EVERY_METRIC, declared, true);
  for (const value of [0.5, 2, 0, -1]) native.family('c_seconds').with('x').observe(value);
  native.family('w').with().observe(1, 17);
  const chunks: Buffer[] = [];
  for await (const part of native.printParts(protobufFormat)) chunks.push(Buffer.isBuffer(part) ? part : part.inflate());
  const [c, w] = await decodeFamilies(Buffer.concat(chunks));
  expect(c!.metric[0]!['histogram']).toEqual({
    sampleCount: '4',
    sampleSum: 1.5,
    bucket: [
      { cumulativeCount: '3', upperBound: 0.5 },
      { cumulativeCount: '4', upperBound: 1e6 },
    ],
    schema: 3,
    zeroThreshold: 2.938735877055719e-39,
    zeroCount: '1',
    negativeSpan: [{ offset: 0, length: 1 }],
    negativeDelta: ['1'],
    positiveSpan: [
      { offset: -8, length: 1 },
      { offset: 15, length: 1 },
    ],
    positiveDelta: ['1', '0'],
  });
  expect(w!.metric[0]!['histogram']).toEqual({ sampleCount: '17', sampleSum: 17, bucket: [{ cumulativeCount: '17', upperBound: 1 }] });
});

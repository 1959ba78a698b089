import { expect, test } from 'vitest';
import { metricFamilies, reportedGates } from './metrics.ts';

const TEXT = `# HELP kubernetes_feature_enabled words
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="Anchor",stage="BETA"} 1
kubernetes_feature_enabled{name="Sail",stage=""} 0
# TYPE latency_seconds histogram
latency_seconds_bucket{verb="GET",path="a \\"b\\"",le="0.5"} 1
latency_seconds_bucket{verb="GET",path="x",le="+Inf"} 1
latency_seconds_sum{verb="GET",path="x"} 0.2
latency_seconds_count{verb="GET",path="x"} 1
# TYPE go_threads gauge
go_threads 9
# TYPE plain_total counter
plain_total 3
`;

test('families with their labels and buckets', () => {
  expect(metricFamilies(TEXT)).toEqual([
    { name: 'kubernetes_feature_enabled', type: 'gauge', labels: ['name', 'stage'] },
    { name: 'latency_seconds', type: 'histogram', labels: ['path', 'verb'], buckets: ['0.5', '+Inf'] },
    { name: 'plain_total', type: 'counter', labels: [] },
  ]);
});

test('gates that a server reports', () => {
  expect(reportedGates(TEXT)).toEqual({ Anchor: { stage: 'BETA', default: true }, Sail: { stage: 'GA', default: false } });
});

import { describe, expect, test } from 'vitest';
import { registerHealthMetrics } from './health-metrics.ts';
import { registerBuildInfo, registerProcessMetrics, registerStorageObjects } from './process-metrics.ts';
import { MetricRegistry } from './registry.ts';
import { formatNumber } from './text.ts';
import { Watermark } from './watermark.ts';

test('a counter and a gauge, families and series in order', () => {
  const registry = new MetricRegistry();
  const gauge = registry.gauge({ name: 'z_gauge', help: 'Z.', stability: 'ALPHA' });
  const counter = registry.counter({ name: 'a_total', help: 'Line\nbreak \\.', stability: 'STABLE', labels: ['verb', 'code'] });
  gauge.with().set(2.5);
  counter.with('b', '2').inc();
  counter.with('a "q"\n', '1').inc(3);
  expect(registry.print()).toBe(`# HELP a_total [STABLE] Line\\nbreak \\\\.
# TYPE a_total counter
a_total{code="1",verb="a \\"q\\"\\n"} 3
a_total{code="2",verb="b"} 1
# HELP z_gauge [ALPHA] Z.
# TYPE z_gauge gauge
z_gauge 2.5
`);
});

test('a histogram counts upwards', () => {
  const registry = new MetricRegistry();
  const histogram = registry.histogram({ name: 'h', help: 'H.', stability: 'ALPHA', labels: ['l'], buckets: [0.1, 1, 1e6] });
  for (const value of [0.05, 0.1, 0.5, 2, 1e7]) histogram.with('x').observe(value);
  expect(registry.print().split('\n').slice(2)).toEqual([
    'h_bucket{l="x",le="0.1"} 2',
    'h_bucket{l="x",le="1"} 3',
    'h_bucket{l="x",le="1e+06"} 4',
    'h_bucket{l="x",le="+Inf"} 5',
    'h_sum{l="x"} 1.000000265e+07',
    'h_count{l="x"} 5',
    '',
  ]);
});

test('the number of series is bounded (CVE-2020-8552)', () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({ name: 'c', help: 'C.', stability: 'ALPHA', labels: ['a', 'b'], maxSeries: 3 });
  for (let i = 0; i < 1000; i++) counter.with(`${i}`, 'x').inc();
  expect(registry.print().match(/^c\{/gm)).toHaveLength(4);
  expect(registry.print()).toContain('c{a="unexpected",b="unexpected"} 997\n');
});

test('names of Object.prototype are just label values', () => {
  const registry = new MetricRegistry();
  registry
    .counter({ name: 'c', help: 'C.', stability: 'ALPHA', labels: ['a'] })
    .with('__proto__')
    .inc();
  expect(registry.print()).toContain('c{a="__proto__"} 1\n');
});

test('a name is taken once', () => {
  const registry = new MetricRegistry();
  registry.counter({ name: 'c', help: '', stability: 'ALPHA' });
  expect(() => registry.gauge({ name: 'c', help: '', stability: 'ALPHA' })).toThrow('registered twice');
});

test.each([
  [0, '0'],
  [100, '100'],
  [999999, '999999'],
  [1e6, '1e+06'],
  [1234567, '1.234567e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1.5e21, '1.5e+21'],
  [-3, '-3'],
  [Infinity, '+Inf'],
  [Number.NaN, 'NaN'],
])('%d prints as %s', (value, text) => expect(formatNumber(value)).toBe(text));

describe('what a server registers', () => {
  test('process, build and stored objects', () => {
    const registry = new MetricRegistry();
    registerProcessMetrics(registry);
    registerBuildInfo(registry, {
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.4',
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '',
      goVersion: '',
      compiler: '',
      platform: 'linux/amd64',
    });
    let counts: [string, number][] = [
      ['pods', 3],
      ['deployments.apps', 1],
    ];
    registerStorageObjects(registry, () => counts);
    expect(registry.print()).toContain('apiserver_storage_objects{resource="deployments.apps"} 1\napiserver_storage_objects{resource="pods"} 3\n');
    counts = [['pods', 2]];
    const text = registry.print();
    expect(text).toContain('apiserver_storage_objects{resource="pods"} 2\n');
    expect(text).not.toContain('deployments');
    expect(text).toMatch(/^process_start_time_seconds \d\.\d+e\+09$/m);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).toContain('git_version="v1.36.4"');
  });

  test('health checks', () => {
    const registry = new MetricRegistry();
    const observe = registerHealthMetrics(registry);
    observe('etcd', 'readyz', false);
    observe('etcd', 'readyz', true);
    const text = registry.print();
    expect(text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1\n');
    expect(text).toContain('kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1\n');
  });
});

test('a watermark is the highest of the second before', () => {
  let nowMs = 5000;
  const watermark = new Watermark(() => nowMs);
  watermark.record(3);
  watermark.record(7);
  watermark.record(2);
  expect(watermark.read()).toBe(0);
  nowMs = 6100;
  expect(watermark.read()).toBe(7);
  nowMs = 9000;
  expect(watermark.read()).toBe(0);
});

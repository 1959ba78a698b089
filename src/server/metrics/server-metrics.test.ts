import { describe, expect, test } from 'vitest';
import { INDICATORS } from '../../metrics/inventory.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { EVERY_METRIC } from '../../metrics/selection.ts';
import { registerHealthMetrics } from './health-metrics.ts';
import { registerBuildInfo, registerProcessMetrics, registerStorageObjects } from './process-metrics.ts';
import { Watermark } from './watermark.ts';

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
    let sizes = [
      { group: '', resource: 'pods', count: 3, averageBytes: 100.5 },
      { group: 'apps', resource: 'deployments', count: 1, averageBytes: 10 },
    ];
    registerStorageObjects(registry, () => sizes);
    expect(registry.print()).toContain('apiserver_storage_objects{resource="deployments.apps"} 1\napiserver_storage_objects{resource="pods"} 3\n');
    expect(registry.print()).toContain('apiserver_resource_size_estimate_bytes{group="",resource="pods"} 302\n');
    sizes = [{ group: '', resource: 'pods', count: 2, averageBytes: 0 }];
    const text = registry.print();
    expect(text).toContain('apiserver_storage_objects{resource="pods"} 2\n');
    expect(text).not.toContain('deployments');
    expect(text).toMatch(/^process_start_time_seconds \d\.\d+e\+09$/m);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).toContain('git_version="v1.36.4"');
  });

  test('health checks', () => {
    const registry = new MetricRegistry(EVERY_METRIC, INDICATORS);
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

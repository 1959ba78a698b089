import { expect, test } from 'vitest';
import { MetricRegistry } from '../metrics/registry.ts';
import { EVERY_METRIC } from '../metrics/selection.ts';
import { pollSizes } from './etcd-metrics.ts';

test('the size of a cluster is that of the first member that tells it; hidden, there is each of them', async () => {
  const registry = new MetricRegistry({ ...EVERY_METRIC, showsHidden: true });
  const sizes = async () => [['http://a:2379', undefined] as const, ['http://b:2379', 4096] as const];
  const stop = pollSizes(registry, [{ sizes }], 60_000);
  await expect.poll(() => registry.print()).toContain('apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 4096\n');
  expect(registry.print()).toContain('apiserver_storage_db_total_size_in_bytes{endpoint="http://a:2379"} -1\n');
  expect(registry.print()).toContain('apiserver_storage_db_total_size_in_bytes{endpoint="http://b:2379"} 4096\n');
  stop();
});

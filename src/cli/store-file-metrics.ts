import type { MetricRegistry } from '../server/metrics/registry.ts';
import type { EmbeddedEngine } from '../storage/engines/embedded.ts';

/** Upstream's name for the size of its store, and our own for what of the file is free: read when they are asked for. */
export function registerStoreFile(registry: MetricRegistry, engine: Pick<EmbeddedEngine, 'statistics'>): void {
  const size = registry.gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Size of the file of the store.',
    stability: 'STABLE',
    labels: ['storage_cluster_id'],
  });
  const free = registry.gauge({
    name: 'binnacle_storage_free_bytes',
    help: 'Part of the file of the store that holds nothing now, and is used before the file grows.',
    stability: 'ALPHA',
  });
  registry.onCollect(() => {
    const statistics = engine.statistics();
    if (statistics === undefined) return;
    size.with('embedded').set(statistics.sizeBytes);
    free.with().set(statistics.freeBytes);
  });
}

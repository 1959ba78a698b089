import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Informer } from '../client/client.ts';
import type { MetricRegistry } from '../server/metrics/registry.ts';

/** kube-aggregator/pkg/controllers/status/metrics. What comes back counts one that has become unavailable. */
export function registerAvailabilityMetrics(registry: MetricRegistry, apiServices: Informer<APIService>): (name: string, reason: string) => void {
  const gauge = registry.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    stability: 'ALPHA',
    labels: ['name'],
  });
  const counter = registry.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    stability: 'ALPHA',
    labels: ['name', 'reason'],
  });
  registry.onCollect(() => {
    gauge.reset();
    for (const { metadata, status } of apiServices.list('')) {
      const isAvailable = status.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True') ?? false;
      gauge.with(metadata.name!).set(isAvailable ? 0 : 1);
    }
  });
  return (name, reason) => counter.with(name, reason).inc();
}

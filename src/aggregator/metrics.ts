import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Informer } from '../client/client.ts';
import type { ServerRequest } from '../endpoints/request.ts';
import { scopeOf, verbLabel } from '../endpoints/request-labels.ts';
import type { MetricRegistry } from '../metrics/registry.ts';

/** kube-aggregator/pkg/controllers/status/metrics. What comes back counts one that has become unavailable. */
export function registerAvailabilityMetrics(registry: MetricRegistry, apiServices: Informer<APIService>): (name: string, reason: string) => void {
  const gauge = registry.family('aggregator_unavailable_apiservice');
  const counter = registry.family('aggregator_unavailable_apiservice_total');
  registry.onCollect(() => {
    gauge.clear();
    for (const { metadata, status } of apiServices.list('')) {
      const isAvailable = status.conditions?.some((condition) => condition.type === 'Available' && condition.status === 'True') ?? false;
      gauge.with(metadata.name!).set(isAvailable ? 0 : 1);
    }
  });
  return (name, reason) => counter.with(name, reason).inc();
}

/** A request that no server elsewhere answers (kube-aggregator/pkg/apiserver/handler_proxy.go, proxyError). */
export function countTerminations(registry: MetricRegistry): (request: ServerRequest) => void {
  const terminations = registry.family('apiserver_request_terminations_total');
  return ({ exchange, info }) => {
    const { isResourceRequest, apiGroup, apiVersion, resource, subresource, path } = info;
    const scope = scopeOf(info);
    const verb = verbLabel(exchange.method, info, scope, exchange.headers['content-type']);
    const labels = isResourceRequest ? ([apiGroup, apiVersion, resource, subresource] as const) : (['', '', '', path] as const);
    terminations.with(verb, ...labels, scope, 'aggregator', '503').inc();
  };
}

/** The same of what we ask ourselves: upstream's goes through the same handler. */
export function countUnreachable(registry: MetricRegistry): (path: string) => void {
  const terminations = registry.family('apiserver_request_terminations_total');
  return (path) => terminations.with('GET', '', '', '', path, '', 'aggregator', '503').inc();
}

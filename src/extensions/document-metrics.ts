import type { MetricRegistry } from '../metrics/registry.ts';
import type { CustomResourcesOptions } from './custom-resources.ts';

/** How often definitions made OpenAPI documents stale (apiextensions-apiserver/pkg/controller/openapi, …/openapiv3). They are made when they are asked for. */
export function documentMetrics(registry: MetricRegistry): CustomResourcesOptions['onDocumentsStale'] {
  const v2 = registry.family('apiextensions_openapi_v2_regeneration_count');
  const v3 = registry.family('apiextensions_openapi_v3_regeneration_count');
  return (reason, name, group, versions) => {
    v2.with(name, reason).inc();
    for (const version of versions) v3.with(group, version, name, reason).inc();
  };
}

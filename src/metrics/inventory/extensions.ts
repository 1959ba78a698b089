import { counter, exponential, histogram } from '../declaration.ts';

/** Custom resources (apiextensions-apiserver). */
export const extensionsMetrics = {
  apiextensions_apiserver_validation_ratcheting_seconds: histogram(
    'ALPHA',
    'Seconds spent on comparing values of an update for ratcheting.',
    exponential(1e-5, 4, 10),
  ),
  apiextensions_openapi_v2_regeneration_count: counter('ALPHA', 'How often OpenAPI v2 was made anew for a custom resource, by reason: add, update or remove.', [
    'crd',
    'reason',
  ]),
  apiextensions_openapi_v3_regeneration_count: counter('ALPHA', 'How often OpenAPI v3 was made anew for a custom resource, by reason: add, update or remove.', [
    'group',
    'version',
    'crd',
    'reason',
  ]),
  apiserver_conversion_webhook_duration_seconds: histogram(
    'ALPHA',
    'Seconds that conversions by webhooks took, by result and kind of failure.',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
    ['result', 'failure_type'],
  ),
  apiserver_conversion_webhook_request_total: counter('ALPHA', 'Conversions asked of webhooks, by result and kind of failure.', ['result', 'failure_type']),
  apiserver_crd_conversion_webhook_duration_seconds: histogram(
    'ALPHA',
    'Seconds that conversions of custom objects took, by definition and versions.',
    exponential(0.001, 2, 15),
    ['crd_name', 'from_version', 'to_version', 'succeeded'],
  ),
};

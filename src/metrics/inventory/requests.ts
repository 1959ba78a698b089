import { counter, exponential, formerName, gauge, histogram, linear } from '../declaration.ts';

/** What upstream tells requests apart by. */
const ROUTE = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const SLI_BUCKETS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

const shown = {
  apiserver_current_inflight_requests: gauge('STABLE', 'The most requests in flight at once during the last second, by kind.', ['request_kind'], {
    isPerProcess: true,
  }),
  apiserver_current_inqueue_requests: gauge('ALPHA', 'The most requests in queues at once during the last second, by kind.', ['request_kind'], {
    isPerProcess: true,
  }),
  apiserver_longrunning_requests: gauge('STABLE', 'Long-running requests that are open now, by verb, resource, scope and component.', ROUTE, {
    isPerProcess: true,
  }),
  apiserver_request_aborts_total: counter('ALPHA', 'Requests whose handler was broken off, by verb, resource and scope.', [
    'verb',
    'group',
    'version',
    'resource',
    'subresource',
    'scope',
  ]),
  apiserver_request_body_size_bytes: histogram('ALPHA', 'Bytes of request bodies, by resource and verb.', linear(50000, 100000, 31), [
    'resource',
    'verb',
    'group',
  ]),
  apiserver_request_duration_seconds: histogram(
    'STABLE',
    'Seconds from receiving a request to the end of its answer, by verb, dry run, resource, scope and component.',
    [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
    ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
  ),
  apiserver_request_filter_duration_seconds: histogram(
    'ALPHA',
    'Seconds that a filter took before it handed the request on.',
    [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30],
    ['filter'],
  ),
  apiserver_request_post_timeout_total: counter('ALPHA', 'Handlers that ended after their request had timed out, by what timed out and how they ended.', [
    'source',
    'status',
  ]),
  apiserver_request_sli_duration_seconds: histogram(
    'ALPHA',
    'Seconds a request took, without webhooks and waiting in queues, by verb, resource, scope and component.',
    SLI_BUCKETS,
    ROUTE,
  ),
  apiserver_request_terminations_total: counter('ALPHA', 'Requests that the server broke off in self-defence.', [...ROUTE, 'code']),
  apiserver_request_timestamp_comparison_time: histogram(
    'ALPHA',
    'Seconds spent on comparing an object with what a write makes of it, to leave times alone where nothing changed.',
    [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5],
    ['code_path'],
  ),
  apiserver_request_total: counter('STABLE', 'Requests handled, by verb, dry run, resource, scope, component and status code.', [
    'verb',
    'dry_run',
    'group',
    'version',
    'resource',
    'subresource',
    'scope',
    'component',
    'code',
  ]),
  apiserver_requested_deprecated_apis: gauge('STABLE', 'Always 1: a deprecated API that was requested, with the release that removes it.', [
    'group',
    'version',
    'resource',
    'subresource',
    'removed_release',
  ]),
  apiserver_response_sizes: histogram('STABLE', 'Bytes of the answers to reads, by verb, resource, scope and component.', exponential(1000, 10, 7), ROUTE),
  apiserver_selfrequest_total: counter('ALPHA', 'Requests of the server to itself.', ['verb', 'group', 'resource', 'subresource']),
  apiserver_tls_handshake_errors_total: counter('ALPHA', 'TLS handshakes that failed.'),
  apiserver_watch_events_sizes: histogram('ALPHA', 'Bytes of watch events that were sent, by resource.', exponential(1024, 2, 8), [
    'group',
    'version',
    'resource',
  ]),
  apiserver_watch_events_total: counter('ALPHA', 'Watch events that were sent, by resource.', ['group', 'version', 'resource']),
  apiserver_watch_list_duration_seconds: histogram(
    'BETA',
    'Seconds until a watch that begins with the current objects had sent them all.',
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60],
    ['group', 'version', 'resource', 'scope'],
  ),
  field_validation_request_duration_seconds: histogram('ALPHA', 'Seconds that writes took, by how strictly their fields were validated.', SLI_BUCKETS, [
    'field_validation',
  ]),
};

/** Requests (apiserver/pkg/endpoints/metrics). */
export const requestsMetrics = {
  ...shown,
  apiserver_request_slo_duration_seconds: formerName(shown.apiserver_request_sli_duration_seconds, 'apiserver_request_sli_duration_seconds', '1.27.0'),
};

import { counter, DEFAULT_BUCKETS, exponential, gauge, histogram } from '../declaration.ts';

/** Authorization (apiserver/pkg/authorization, plugin/pkg/auth/authorizer/node). */
export const authorizationMetrics = {
  apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'BETA',
    'When the authorization configuration last changed, by whether it could be taken over.',
    ['status', 'apiserver_id_hash'],
  ),
  apiserver_authorization_config_controller_automatic_reloads_total: counter(
    'BETA',
    'Changes of the authorization configuration that were taken over, or could not be.',
    ['status', 'apiserver_id_hash'],
  ),
  apiserver_authorization_config_controller_last_config_info: gauge('ALPHA', 'The authorization configuration in use, by its hash.', [
    'apiserver_id_hash',
    'hash',
  ]),
  apiserver_authorization_decisions_total: counter('ALPHA', 'Decisions, by the authorizer that made them.', ['type', 'name', 'decision']),
  apiserver_authorization_match_condition_evaluation_errors_total: counter('ALPHA', 'Match conditions that could not be evaluated.', ['type', 'name']),
  apiserver_authorization_match_condition_evaluation_seconds: histogram(
    'ALPHA',
    'Seconds that the match conditions of an authorizer took.',
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    ['type', 'name'],
  ),
  apiserver_authorization_match_condition_exclusions_total: counter('ALPHA', 'Requests that match conditions kept from an authorizer.', ['type', 'name']),
  apiserver_authorization_webhook_duration_seconds: histogram('ALPHA', 'Seconds that calls of authorization webhooks took.', DEFAULT_BUCKETS, [
    'name',
    'result',
  ]),
  apiserver_authorization_webhook_evaluations_fail_open_total: counter('ALPHA', 'Calls of authorization webhooks that failed and came to no opinion.', [
    'name',
    'result',
  ]),
  apiserver_authorization_webhook_evaluations_total: counter('ALPHA', 'Calls of authorization webhooks.', ['name', 'result']),
  authorization_attempts_total: counter('ALPHA', 'Authorizations, by result.', ['result']),
  authorization_duration_seconds: histogram('ALPHA', 'Seconds that authorization took, by result.', exponential(0.001, 2, 15), ['result']),
  node_authorizer_graph_actions_duration_seconds: histogram(
    'ALPHA',
    'Seconds that changes of the graph of the node authorizer took, by operation.',
    exponential(0.0001, 2, 12),
    ['operation'],
  ),
};

import { counter, DEFAULT_BUCKETS, gauge, histogram, summary } from '../declaration.ts';

const STEP_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
/** Whose match conditions they are. */
const CONDITION = ['name', 'kind', 'type', 'operation'] as const;
const POLICY_BUCKETS = [5e-7, 0.001, 0.01, 0.1, 1];

/** Admission: steps, plug-ins, webhooks, policies, pod security, and CEL (apiserver/pkg/admission/metrics, …/admission/plugin/policy, pod-security-admission/metrics, apiserver/pkg/cel/metrics). */
export const admissionMetrics = {
  apiserver_admission_controller_admission_duration_seconds: histogram(
    'STABLE',
    'Seconds that a plug-in took over what concerns it, by name, step (admit or validate), operation, and whether it refused.',
    STEP_BUCKETS,
    ['name', 'type', 'operation', 'rejected'],
  ),
  apiserver_admission_match_condition_evaluation_errors_total: counter(
    'ALPHA',
    'Match conditions that ended in an error, by whose they are (name and kind), type and operation.',
    CONDITION,
  ),
  apiserver_admission_match_condition_evaluation_seconds: histogram(
    'ALPHA',
    'Seconds that match conditions took which did not all hold, by whose they are (name and kind), type and operation.',
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    CONDITION,
  ),
  apiserver_admission_match_condition_exclusions_total: counter(
    'ALPHA',
    'Requests that match conditions kept from a webhook, by whose they are (name and kind), type and operation.',
    CONDITION,
  ),
  apiserver_admission_step_admission_duration_seconds: histogram(
    'STABLE',
    'Seconds that a step of admission took, by step (admit or validate), operation, and whether it refused.',
    STEP_BUCKETS,
    ['type', 'operation', 'rejected'],
  ),
  apiserver_admission_step_admission_duration_seconds_summary: summary(
    'ALPHA',
    'Seconds that a step of admission took, in sum, by step (admit or validate), operation, and whether it refused.',
    ['type', 'operation', 'rejected'],
  ),
  apiserver_admission_webhook_admission_duration_seconds: histogram(
    'STABLE',
    'Seconds that the call of a webhook took, by its name, type (admit or validating), operation, and whether it refused.',
    [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    ['name', 'type', 'operation', 'rejected'],
  ),
  apiserver_admission_webhook_fail_open_count: counter('ALPHA', 'Webhooks that failed and were passed over, by name and type.', ['name', 'type']),
  apiserver_admission_webhook_rejection_count: counter(
    'ALPHA',
    'Refusals that came of webhooks, by name, type, operation, cause, and the code of the answer; codes above 600 count as 600.',
    ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  ),
  apiserver_admission_webhook_request_total: counter(
    'ALPHA',
    'Calls of webhooks, by name, type, operation, code of the answer (codes above 600 count as 600), and whether it refused.',
    ['name', 'type', 'operation', 'code', 'rejected'],
  ),
  apiserver_cel_compilation_duration_seconds: histogram('BETA', 'Seconds that the compilation of a CEL expression took.', DEFAULT_BUCKETS),
  apiserver_cel_evaluation_duration_seconds: histogram('BETA', 'Seconds that the evaluation of a CEL expression took.', DEFAULT_BUCKETS),
  apiserver_mutating_admission_policy_check_duration_seconds: histogram(
    'ALPHA',
    'Seconds that a mutation of a policy took, by policy, binding and kind of error.',
    POLICY_BUCKETS,
    ['policy', 'policy_binding', 'error_type'],
  ),
  apiserver_mutating_admission_policy_check_total: counter('ALPHA', 'Mutations of policies, by policy, binding and kind of error.', [
    'policy',
    'policy_binding',
    'error_type',
  ]),
  apiserver_validating_admission_policy_check_duration_seconds: histogram(
    'BETA',
    'Seconds that these expressions took, by policy, binding, kind of error, and what was done.',
    POLICY_BUCKETS,
    ['policy', 'policy_binding', 'error_type', 'enforcement_action'],
  ),
  apiserver_validating_admission_policy_check_total: counter(
    'BETA',
    'Expressions of validating policies that were not kept or had no answer, by policy, binding, kind of error, and what was done.',
    ['policy', 'policy_binding', 'error_type', 'enforcement_action'],
  ),
  pod_security_errors_total: counter('ALPHA', 'Evaluations of pod security that failed.', ['fatal', 'request_operation', 'resource', 'subresource']),
  pod_security_evaluations_total: counter('ALPHA', 'Evaluations of pod security, by decision and policy.', [
    'decision',
    'policy_level',
    'policy_version',
    'mode',
    'request_operation',
    'resource',
    'subresource',
  ]),
  pod_security_exemptions_total: counter('ALPHA', 'Requests that are exempt from pod security.', ['request_operation', 'resource', 'subresource']),
  apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'ALPHA',
    'When static manifests of a plug-in were last read, by result.',
    ['status', 'plugin', 'apiserver_id_hash'],
  ),
  apiserver_manifest_admission_config_controller_automatic_reloads_total: counter('ALPHA', 'Readings of static manifests of a plug-in, by result.', [
    'status',
    'plugin',
    'apiserver_id_hash',
  ]),
  apiserver_manifest_admission_config_controller_last_config_info: gauge('ALPHA', 'The hash of the static manifests of a plug-in that are in use.', [
    'plugin',
    'apiserver_id_hash',
    'hash',
  ]),
};

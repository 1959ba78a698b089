import { counter } from '../declaration.ts';

/** Auditing (apiserver/pkg/audit/metrics.go). */
export const auditMetrics = {
  apiserver_audit_error_total: counter('ALPHA', 'Audit events that were lost, by the part that lost them.', ['plugin']),
  apiserver_audit_event_total: counter('ALPHA', 'Audit events that were made and handed to the backends.'),
  apiserver_audit_level_total: counter('ALPHA', 'Requests, by the level at which they are audited.', ['level']),
  apiserver_audit_requests_rejected_total: counter('ALPHA', 'Requests that were refused because they could not be audited.'),
};

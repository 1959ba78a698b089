import type { MetricRegistry } from './registry.ts';

/** What auditing counts, by upstream's names (apiserver/pkg/audit/metrics.go). */
export interface AuditCounters {
  countEvent(): void;
  countLevel(level: string): void;
  /** So many events that a part of auditing has lost. */
  countErrors(plugin: string, events: number): void;
  countRejected(): void;
}

export function registerAuditMetrics(registry: MetricRegistry): AuditCounters {
  const events = registry.counter({ name: 'apiserver_audit_event_total', help: 'Audit events that were made and handed to the backends.', stability: 'ALPHA' });
  const levels = registry.counter({
    name: 'apiserver_audit_level_total',
    help: 'Requests, by the level at which they are audited.',
    stability: 'ALPHA',
    labels: ['level'],
  });
  const errors = registry.counter({
    name: 'apiserver_audit_error_total',
    help: 'Audit events that were lost, by the part that lost them.',
    stability: 'ALPHA',
    labels: ['plugin'],
  });
  const rejected = registry.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: 'Requests that were refused because they could not be audited.',
    stability: 'ALPHA',
  });
  // Printed before there is anything to count, as upstream's without labels are.
  const start = (): void => {
    events.with();
    rejected.with();
  };
  start();
  registry.onReset(start);
  return {
    countEvent: () => events.with().inc(),
    countLevel: (level) => levels.with(level).inc(),
    countErrors: (plugin, count) => errors.with(plugin).inc(count),
    countRejected: () => rejected.with().inc(),
  };
}

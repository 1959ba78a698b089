import type { MetricRegistry } from '../../metrics/registry.ts';

/** What auditing counts, by upstream's names (apiserver/pkg/audit/metrics.go). */
export interface AuditCounters {
  countEvent(): void;
  countLevel(level: string): void;
  /** So many events that a part of auditing has lost. */
  countErrors(plugin: string, events: number): void;
  countRejected(): void;
}

export function registerAuditMetrics(registry: MetricRegistry): AuditCounters {
  const events = registry.family('apiserver_audit_event_total');
  const levels = registry.family('apiserver_audit_level_total');
  const errors = registry.family('apiserver_audit_error_total');
  const rejected = registry.family('apiserver_audit_requests_rejected_total');
  return {
    countEvent: () => events.with().inc(),
    countLevel: (level) => levels.with(level).inc(),
    countErrors: (plugin, count) => errors.with(plugin).inc(count),
    countRejected: () => rejected.with().inc(),
  };
}
